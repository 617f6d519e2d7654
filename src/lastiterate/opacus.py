"""Accountant for Opacus (pip install 'lastiterate[opacus]'); the import registers it as "last_iterate"."""

from lastiterate.runtime.opacus.accountant import LastIterateAccountant
from lastiterate.runtime.opacus.projection import Projection, project

__all__ = ["LastIterateAccountant", "Projection", "project"]
