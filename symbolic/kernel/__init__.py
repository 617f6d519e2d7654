"""The proof kernel: a judgement about two runs, and the rules that derive it."""

from types import ModuleType

from lastiterate.symbolic.kernel import integrals, prelude, renyi, sealed  # noqa: F401

for _one in [part for part in vars().values() if isinstance(part, ModuleType)]:
    sealed.fix(_one.__name__)
