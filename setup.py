"""Places of the packages; all else stands in pyproject.toml.

Where git made no symbolic links (Windows), src/lastiterate/numeric is a text, and the folders lie beside src/.
"""

from pathlib import Path

from setuptools import setup

_LAYERS = ("symbolic", "numeric", "runtime", "proofs_checks")
_UNLINKED = [name for name in _LAYERS if not (Path("src/lastiterate") / name).is_dir()]

setup(package_dir={"": "src"} | {f"lastiterate.{name}": name for name in _UNLINKED})
