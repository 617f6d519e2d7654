"""Hypothesis draws afresh on a developer's machine and in `make nightly`; CI repeats the same examples every time."""

import os

from hypothesis import settings

settings.register_profile("ci", derandomize=True, print_blob=True)
if os.environ.get("CI"):
    settings.load_profile("ci")
