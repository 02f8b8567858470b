"""The versions of Python and the packages, to be saved with results."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version

_PACKAGES = (
    "millebornes-env",
    "numpy",
    "numba",
    "gymnasium",
    "pettingzoo",
    "torch",
    "stable-baselines3",
    "sb3-contrib",
    "choix",
    "pyarrow",
)

try:
    __version__ = version("millebornes-env")
except PackageNotFoundError:  # a source tree that was never installed
    __version__ = "0+unknown"


def versions() -> dict[str, str]:
    """Return the versions by name, with `python` and `platform`; missing packages are left out."""
    result = {"python": platform.python_version(), "platform": platform.platform()}
    for package in _PACKAGES:
        try:
            result[package] = version(package)
        except PackageNotFoundError:
            continue
    return result
