"""Folders of answers about places and conditions of claims, kept between runs."""

from lastiterate.proofs_checks.cache import AnswerCache, generators
from lastiterate.proofs_checks.places.record import PlacesReport
from lastiterate.symbolic.claim import Claim


class PlaceCache(AnswerCache[PlacesReport]):
    """A folder of what became of the places of claims."""

    name = "places"
    kind = PlacesReport

    def basis(self, claim: Claim) -> str:
        """Hash of everything but the claim that can change an answer, the making of places included."""
        return super().basis(claim) + generators()


class UnneededCache(PlaceCache):
    """A folder of the conditions that claims are shown without."""

    name = "unneeded"


class StatementCache(PlaceCache):
    """A folder of what became of the places of statements."""

    name = "statements"
