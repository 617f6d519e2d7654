# Two commands do everything on a machine with Python >= 3.11 and git: `make check` and `make test`.
PYTHON ?= python3
VENV   := .venv
DEVICE ?= cuda
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip --disable-pip-version-check --quiet
# What is imported is compiled then, and kept; compiling all that is installed takes longer than the rest of it.
unexport PYTHONDONTWRITEBYTECODE
# With its own 1000 entries Sympy computes much anew.
export SYMPY_CACHE_SIZE ?= 20000
INSTALL := $(PIP) install --no-compile --constraint constraints.txt --editable

.PHONY: check test coq coq-run kernels nightly installs bench bench-gpu coverage mutants faults drawing docs dist figures clean

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: pyproject.toml constraints.txt | $(BIN)/python
	$(INSTALL) .
	touch $@

$(VENV)/.installed-all: pyproject.toml constraints.txt | $(BIN)/python
	$(INSTALL) '.[dev,docs,runtime,transformer,vision,sweep,dp-accounting,opacus,cvc5,lightning,trainer]'
	touch $(VENV)/.installed $@

check: $(VENV)/.installed          ## decide every claim of the ledger
	$(BIN)/lastiterate check

test: $(VENV)/.installed-all       ## the whole test suite, linters and the type checker included
	$(BIN)/python -m pytest --numprocesses auto --dist worksteal

coq:                               ## the rules of the kernel as theorems of Coq, without an axiom; needs coq and mathcomp
	@$(MAKE) --no-print-directory -C proofs_checks/coq rules

coq-run:                           ## the run of the README, accepted by Coq for every number of steps
	@$(MAKE) --no-print-directory -C proofs_checks/coq run

kernels: $(VENV)/.installed-all    ## what runs torch, once more with kernels of other processors; KERNELS=all: the whole suite
	PYTHON=$(BIN)/python .ci/kernels $(KERNELS)

installs:                          ## the wheel as users install it, by every Python of PYTHONS, without torch and with it for the CPU
	.ci/installs $(PYTHONS)

nightly: $(VENV)/.installed-all    ## the long sweeps, and a second type checker
	$(INSTALL) '.[nightly]'
	$(BIN)/python -m pytest --numprocesses auto -m nightly

bench: $(VENV)/.installed-all      ## ratios against baselines, written to benchmarks/RESULTS.md
	$(INSTALL) '.[peers]'
	$(BIN)/python -m benchmarks

coverage: $(VENV)/.installed-all   ## the share of branches of numeric/ and the engines that the tests take; fails below 95%
	$(INSTALL) '.[mutation]'
	$(BIN)/python -m benchmarks.covered

mutants: $(VENV)/.installed-all    ## a sample of mutants of numeric/ and the engines, written to benchmarks/MUTANTS.md
	$(INSTALL) '.[mutation]'
	$(BIN)/python -m benchmarks.mutation

faults: $(VENV)/.installed-all     ## faults planted in numeric/, the engines and the kernel, and what notices each; fails where nothing does
	$(BIN)/python -m benchmarks.faults

drawing: $(VENV)/.installed-all    ## who imports whom, and what a run passes on its way through `bound`, into figures/
	$(BIN)/python -m benchmarks.drawing

docs: $(VENV)/.installed-all       ## the documentation, into site/; a warning is an error
	$(BIN)/python docs/generate site

dist: $(VENV)/.installed-all       ## sdist and wheel of what is committed, into dist/, the same bytes on any machine
	PYTHON=$(BIN)/python .ci/dist dist

bench-gpu:                         ## what is asked of a GPU, by the python that has torch for it (PYTHON, DEVICE), into benchmarks/cuda.md; profiles
	PYTHONPATH=src $(PYTHON) -m benchmarks --device $(DEVICE)
	PYTHONPATH=src $(PYTHON) -m benchmarks.profiles --device $(DEVICE)

figures: $(VENV)/.installed-all    ## every figure, as PNG and CSV, into figures/
	$(BIN)/python examples/figures --out figures

clean:
	rm -rf $(VENV) .wheel-venv site build dist .pytest_cache .mypy_cache .ruff_cache src/*.egg-info
