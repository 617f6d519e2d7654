"""The proof kernel: a judgement about two runs, and the rules that derive it."""

from types import ModuleType

from lastiterate.symbolic.kernel import integrals, prelude, renyi, sealed  # noqa: F401

for _one in [*vars().values()]:
    if isinstance(_one, ModuleType) and _one.__name__.startswith(f"{__name__}."):
        sealed.fix(_one.__name__)
