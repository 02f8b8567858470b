"""The one place that knows Numba: `@rule` compiles a function of the rulebook, `@kernel` a loop over games.

Three ways to run the same source:

* compiled (the default), the machine code cached on disk;
* `NUMBA_BOUNDSCHECK=1`: compiled, every index checked;
* `NUMBA_DISABLE_JIT=1`: plain Python, so that a breakpoint in a rule works.

Numba's cache notices a change of the cached function's own file only, not of a function which it calls in
another file. So the cache lives in a folder named after a digest of all sources that can be compiled: any
change of a rule is a new folder.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, ParamSpec, TypeVar, cast

import numba

P = ParamSpec("P")
R = TypeVar("R")

_PACKAGE = Path(__file__).parent
_COMPILED_SOURCES = ("compile.py", "chance.py", "millebornes", "engine")
_DAYS_TO_KEEP_OLD_CACHES = 30

_config: Any = numba.config  # Numba fills its module with settings as it starts

prange: type[range] = numba.prange
"""`range` whose rounds the threads of a `parallel_kernel` share."""

IS_COMPILED: bool = not _config.DISABLE_JIT
"""False under `NUMBA_DISABLE_JIT=1`."""


def source_digest() -> str:
    """Sixteen hexadecimal digits that change with any source that can be compiled."""
    digest = hashlib.sha256()
    for name in _COMPILED_SOURCES:
        path = _PACKAGE / name
        for file in sorted(path.rglob("*.py")) if path.is_dir() else [path]:
            digest.update(file.relative_to(_PACKAGE).as_posix().encode())
            digest.update(file.read_bytes())
    return digest.hexdigest()[:16]


def _cache_folder() -> str | None:
    """Where the machine code goes: the user's `NUMBA_CACHE_DIR`, else a place of ours; None: nowhere."""
    if _config.CACHE_DIR:
        return os.path.join(_config.CACHE_DIR, source_digest())
    user = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "millebornes_env"
    uid = os.getuid() if hasattr(os, "getuid") else "user"
    for base in (user, Path(tempfile.gettempdir()) / f"millebornes_env-{uid}"):
        folder = base / source_digest()
        try:
            folder.mkdir(parents=True, exist_ok=True)
            os.utime(folder)
            with tempfile.TemporaryFile(dir=folder):
                pass
        except OSError:
            continue
        _forget_old_caches(base, folder)
        return str(folder)
    return None


def _forget_old_caches(base: Path, current: Path) -> None:
    """Remove the caches of sources that have not been imported for a month."""
    oldest = time.time() - _DAYS_TO_KEEP_OLD_CACHES * 86_400
    for folder in base.iterdir():
        if folder != current and folder.is_dir() and folder.stat().st_mtime < oldest:
            shutil.rmtree(folder, ignore_errors=True)


_CACHE_FOLDER = _cache_folder() if IS_COMPILED else None


def _compile(function: Callable[P, R], **options: Any) -> Callable[P, R]:
    # Numba reads CACHE_DIR when the function is decorated: it is ours for that moment only, so that a
    # user's own compiled functions keep the cache folder that they had.
    users_folder = _config.CACHE_DIR
    _config.CACHE_DIR = _CACHE_FOLDER or ""
    try:
        cached = _CACHE_FOLDER is not None
        compiled = numba.njit(cache=cached, nogil=True, error_model="numpy", **options)(function)
    finally:
        _config.CACHE_DIR = users_folder
    return cast("Callable[P, R]", compiled)


def rule(function: Callable[P, R]) -> Callable[P, R]:
    """Compile one function of a rulebook; scalars, records and tuples of ints in, a scalar out."""
    return _compile(function, forceinline=True, _nrt=False)


def seldom(function: Callable[P, R]) -> Callable[P, R]:
    """Compile a rule that is needed once in a round: called where it is needed, not copied to there.

    What is copied to every place where a turn can end is compiled as often: minutes, for nothing.
    """
    return _compile(function, _nrt=False)


def kernel(function: Callable[P, R]) -> Callable[P, R]:
    """Compile a loop over games that runs on one thread."""
    return _compile(function, _nrt=False)


def parallel_kernel(function: Callable[P, R]) -> Callable[P, R]:
    """Compile a loop over games written with `prange`, to run on several threads."""
    return _compile(function, parallel=True)
