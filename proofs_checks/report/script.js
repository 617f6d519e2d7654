"use strict";
(() => {
  const field = (id) => document.getElementById(id);
  const claims = [...document.querySelectorAll("details.claim")].map((element) => ({
    element,
    paper: element.closest("section").dataset.paper,
    engines: element.dataset.engines.split(" "),
    text: null,
  }));
  const choices = ["paper", "verdict", "engine", "grade"].map(field);
  const [paper, verdict, engine, grade] = choices;

  function filter() {
    const words = field("search").value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const claim of claims) {
      const data = claim.element.dataset;
      const chosen =
        (!paper.value || claim.paper === paper.value) &&
        (!verdict.value || data.verdict === verdict.value) &&
        (!engine.value || claim.engines.includes(engine.value)) &&
        (!grade.value || data.grade === grade.value);
      if (chosen && words.length && claim.text === null) claim.text = claim.element.textContent.toLowerCase();
      const visible = chosen && words.every((word) => claim.text.includes(word));
      claim.element.hidden = !visible;
      shown += visible;
    }
    for (const section of document.querySelectorAll("section.paper"))
      section.hidden = !section.querySelector("details.claim:not([hidden])");
    field("shown").textContent = `${shown} of ${claims.length} claims`;
  }

  function follow() {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!target || !target.matches("details.claim")) return;
    if (target.hidden) {
      field("filters").reset();
      filter();
    }
    target.open = true;
    target.scrollIntoView();
    target.querySelector("summary").focus({ preventScroll: true });
  }

  field("search").addEventListener("input", filter);
  for (const choice of choices) choice.addEventListener("change", filter);
  field("filters").addEventListener("submit", (event) => event.preventDefault());
  field("filters").addEventListener("reset", () => setTimeout(filter));
  field("open").addEventListener("click", () => {
    for (const claim of claims) if (!claim.element.hidden) claim.element.open = true;
  });
  field("close").addEventListener("click", () => {
    for (const claim of claims) claim.element.open = false;
  });
  addEventListener("hashchange", follow);
  addEventListener("load", () => setTimeout(follow)); // after the browser's own jump, which drops the focus
  filter();
})();
