"""Hypothesis draws afresh on a developer's machine and in `make nightly`; CI repeats the same examples every time."""

import os

from hypothesis import settings

settings.register_profile("fresh")
settings.register_profile("ci", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("ci" if os.environ.get("CI") else "fresh")
