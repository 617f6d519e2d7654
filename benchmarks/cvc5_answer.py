"""cvc5's answer to a question in SMT-LIB on standard input, from a process that can be stopped.

cvc5's coverings of nonlinear questions use no resource units, so the computing time is limited.
"""

import sys
from contextlib import suppress

SECONDS = 5
RESOURCES = 60_000


def answer_question() -> None:
    """Print sat, unsat or unknown."""
    import cvc5

    with suppress(ImportError):  # Windows has no such module
        import resource

        resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    solver = cvc5.Solver(cvc5.TermManager())
    solver.setOption("rlimit-per", str(RESOURCES))
    solver.setOption("nl-cov", "true")
    parser = cvc5.InputParser(solver)
    parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, sys.stdin.read(), "question")
    symbols, said = parser.getSymbolManager(), ""
    while not (command := parser.nextCommand()).isNull():
        said += command.invoke(solver, symbols) or ""
    sys.stdout.write(said.split()[0])


if __name__ == "__main__":
    answer_question()
