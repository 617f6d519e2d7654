"""A referee's suite: what is false or undefined does not hold, what is true is not refuted, and most of it holds."""

import referee_false
import referee_means
import referee_true
import referee_vectors

from lastiterate.proofs_checks.engines import decide_check
from lastiterate.proofs_checks.verdict import Status

FALSE = [*referee_false.FALSE, *referee_vectors.FALSE, *referee_means.FALSE]
TRUE = [*referee_true.TRUE, *referee_vectors.TRUE, *referee_means.TRUE]
UNDECIDED_AT_MOST = 0.1


def test_nothing_false_or_undefined_holds():
    assert len(FALSE) >= 100
    outcomes = [(what, check, decide_check(check, assumptions)) for what, check, assumptions in FALSE]
    assert not [(what, check, o) for what, check, o in outcomes if o.status is Status.HELD]


def test_nothing_true_is_refuted_and_most_of_it_holds():
    assert len(TRUE) >= 100
    outcomes = [(what, check, decide_check(check, assumptions)) for what, check, assumptions in TRUE]
    assert not [(what, check, o) for what, check, o in outcomes if o.status is Status.REFUTED]
    open_ = [(what, check, o) for what, check, o in outcomes if o.status is not Status.HELD]
    assert len(open_) <= UNDECIDED_AT_MOST * len(TRUE), open_


def test_nothing_unclear_is_refuted():
    outcomes = [(what, decide_check(check, assumptions)) for what, check, assumptions in referee_vectors.UNCLEAR]
    assert not [(what, o) for what, o in outcomes if o.status is Status.REFUTED]
