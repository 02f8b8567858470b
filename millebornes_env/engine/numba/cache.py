"""The cache of machine code: one folder for the same sources, wherever they are installed.

Numba's own cache names its folders after the path of a source file, so every clone, virtual environment and
container would compile again; and it detects a change of the cached function's own file only, not of a
function that it calls in another file. So the cache is in a folder named after a digest of all sources that
can be compiled: any change of a rule leads to a new folder, and identical sources share one.

For all other functions (of the agents, the arena, users) the digest also includes the files that the
function's file imports, directly or not, and that use this package.

Damaged or unreadable files are compiled and written again. Without a usable folder (not writable, writable by
others, or no source files to digest), everything works but is compiled in every process.
"""

from __future__ import annotations

import ast
import contextlib
import functools
import hashlib
import os
import pickle
import shutil
import stat
import sys
import tempfile
import time
import uuid
from pathlib import Path
from typing import Any

from numba.core import caching, config
from numba.core import event as numba_event

from millebornes_env._util.versions import versions

_PACKAGE = Path(__file__).parents[2]
_OWN_NAME = __name__.partition(".")[0]
_COMPILED_SOURCES = ("engine", "games/millebornes")
_COMPILED_ON_TOP = (
    "agents/",
    "arena/",
    "envs/single_agent/",
    "games/wielerspel/",
    "solving/equilibrium/",
    "testing/",
)
"""Folders of this package whose files are only in the digests of modules that import them."""
_DAYS_TO_KEEP_OLD_CACHES = 30

_config: Any = config  # Numba adds its settings to the module at run time


def source_digest(others: frozenset[Path] = frozenset()) -> str:
    """Return sixteen hexadecimal digits that change with any source that can be compiled.

    If the sources cannot be read (in a zip file, or installed as byte code only), the digits change with the
    version only.

    Args:
        others: files in addition to those of every digest.
    """
    try:
        return _digest_of_files(others)
    except OSError:
        return hashlib.sha256(versions().get("millebornes-env", "").encode()).hexdigest()[:16]


def _digest_of_files(others: frozenset[Path]) -> str:
    """Return the `source_digest` of readable sources.

    Raises:
        OSError: a source cannot be read.
    """
    digest = hashlib.sha256()
    for name in _COMPILED_SOURCES:
        folder = _PACKAGE / name
        if not folder.is_dir():
            raise NotADirectoryError(folder)
        for file in sorted(folder.rglob("*.py")):
            digest.update(file.relative_to(_PACKAGE).as_posix().encode())
            digest.update(file.read_bytes())
    for file in sorted(others, key=lambda path: (path.name, path.read_bytes())):
        digest.update(file.name.encode())
        digest.update(file.read_bytes())
    return digest.hexdigest()[:16]


def sources_on_top(module_name: str, known: frozenset[Path] = frozenset()) -> frozenset[Path]:
    """Return the files outside of rulebook and engine that a module's machine code depends on.

    They are the module's own file and the files that it imports, directly or not, and that use this package,
    since they may define functions that it calls, or constants in its machine code.

    Args:
        module_name: name of a module whose imports are complete.
        known: files found so far, which are included in the result.
    """
    file = getattr(sys.modules.get(module_name), "__file__", None)
    if file is None or Path(file) in known or _is_in_every_digest(Path(file)):
        return known
    try:
        source = Path(file).read_text(encoding="utf-8", errors="replace")
        if _OWN_NAME not in source:
            return known
        names = _imports_of(source)
    except (OSError, SyntaxError, ValueError):  # in a zip file, or byte code: its imports are unknown
        return known | {Path(file)}
    known |= {Path(file)}
    for name in names:
        known = sources_on_top(name, known)
    return known


@functools.cache
def _imports_of(source: str) -> tuple[str, ...]:
    """Return the names that a source imports, modules and members, each once.

    Raises:
        SyntaxError: the source is not valid Python.
        ValueError: it contains a null byte.
    """
    names: list[str | None] = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom):
            names += [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        elif isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
    return tuple(dict.fromkeys(filter(None, names)))


def _is_in_every_digest(file: Path) -> bool:
    """Return True if a file is in every digest (rulebook, engine) or has no compiled functions."""
    if not file.is_relative_to(_PACKAGE):
        return False
    return not file.relative_to(_PACKAGE).as_posix().startswith(_COMPILED_ON_TOP)


def _user_base() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "millebornes_env"


def _temporary_base() -> Path:
    uid = os.getuid() if hasattr(os, "getuid") else "user"
    return Path(tempfile.gettempdir()) / f"millebornes_env-{uid}"


def _make_private(base: Path, writers: int, *, may_be_link: bool) -> None:
    """Make a folder for this user alone, or check an existing one, since its files are executed.

    Args:
        base: the folder.
        writers: mode bits that must not be set.
        may_be_link: True to accept a link to such a folder.

    Raises:
        PermissionError: it is not a folder, belongs to another user, or others can write to it.
    """
    base.parent.mkdir(parents=True, exist_ok=True)
    with contextlib.suppress(FileExistsError):
        base.mkdir(mode=0o700)
    own, result = base.lstat(), base.stat() if may_be_link else base.lstat()
    if not stat.S_ISDIR(result.st_mode):
        raise PermissionError(f"{base} is not a folder")
    if hasattr(os, "getuid"):
        users = {own.st_uid, result.st_uid}  # the owner of a link can change its target
        if users != {os.getuid()} or result.st_mode & writers:
            raise PermissionError(f"others can write to {base}")


@functools.cache
def _cache_folder(others: frozenset[Path]) -> Path | None:
    """Return the cache folder, in the user's `NUMBA_CACHE_DIR` or our own; None if it is unusable."""
    try:
        # Numba's cache does not record whether indices were checked.
        name = _digest_of_files(others) + ("-checked" if _config.BOUNDSCHECK else "")
    except OSError:  # sources in a zip file, or installed as byte code only
        return None
    if _config.CACHE_DIR:  # chosen by the user, so its permissions are not checked
        with contextlib.suppress(OSError):
            return _writable(Path(_config.CACHE_DIR) / name)
    # Everyone can make files and links in the temporary folder. At home, a group is often one user.
    bases = ((_user_base, stat.S_IWOTH, True), (_temporary_base, stat.S_IWGRP | stat.S_IWOTH, False))
    for base_of, writers, may_be_link in bases:
        with contextlib.suppress(OSError, RuntimeError):  # RuntimeError: this user has no home
            base = base_of()
            _make_private(base, writers, may_be_link=may_be_link)
            folder = _writable(base / name)
            _forget_old_caches(base)
            return folder
    return None


def _writable(folder: Path) -> Path:
    """Make a folder if needed, check that it is writable, and return it.

    Raises:
        OSError: it is not writable.
    """
    folder.mkdir(parents=True, exist_ok=True)
    os.utime(folder)
    with tempfile.TemporaryFile(dir=folder):
        pass
    return folder


@functools.cache
def cache_folder_of(*module_names: str) -> Path | None:
    """Return the cache folder of a module; its imports must precede its first compiled function.

    Args:
        *module_names: the module, and others that its functions were compiled with.

    Returns:
        A writable folder, or None if there is none or if the functions come from no readable file (a
        notebook's cells, a zip file), so that changes cannot be detected.
    """
    result: frozenset[Path] = frozenset()
    for name in module_names:
        if getattr(sys.modules.get(name), "__file__", None) is None:
            return None
        result = sources_on_top(name, result)
    if any(file.suffix != ".py" for file in result):  # byte code
        return None
    return _cache_folder(result)


def cache_folder_for(function: Any) -> Path | None:
    """Return the cache folder of a function; its attribute `compiled_with` names additional modules."""
    return cache_folder_of(function.__module__, *getattr(function, "compiled_with", ()))


@functools.cache
def _forget_old_caches(base: Path) -> None:
    """Remove caches whose sources have not been imported for a month, once in a process."""
    oldest = time.time() - _DAYS_TO_KEEP_OLD_CACHES * 86_400
    with contextlib.suppress(OSError):  # another process may remove them, too
        for folder in base.iterdir():
            if folder.is_dir() and folder.stat().st_mtime < oldest:
                shutil.rmtree(folder, ignore_errors=True)


class _SourcesLocator(caching._CacheLocator):  # type: ignore[misc] # Numba has no type hints
    """Returns the folder of a function to Numba's cache; the folder's name is the digest of the sources."""

    def __init__(self, function: Any, folder: Path) -> None:
        self._py_file = function.__code__.co_filename  # shown in Numba's warnings
        self._line = function.__code__.co_firstlineno
        self._folder = folder / function.__module__

    def get_cache_path(self) -> str:
        return str(self._folder)

    def get_source_stamp(self) -> str:
        return str(self._folder.parent.name)

    def get_disambiguator(self) -> str:
        return str(self._line)

    @classmethod
    def from_function(cls, function: Any, file: str) -> _SourcesLocator | None:
        folder = cache_folder_for(function)
        return None if folder is None else cls(function, folder)


class SourcesCacheImpl(caching.CompileResultCacheImpl):  # type: ignore[misc]
    """Numba's cache of functions, in our folder."""

    _locator_classes = (_SourcesLocator,)


class _Index(caching.IndexDataCacheFile):  # type: ignore[misc]
    """Numba's list of the signatures that a function has been compiled for, and their files.

    Kernels that run any game list classes of users' games. If the module of such a class is missing, or the
    list is damaged, the list cannot be read. The next compilation then starts a new list with new files,
    since another process may have read the old one.

    Each data file begins with a digest of the rest, because damaged machine code would crash.
    """

    def _load_index(self) -> Any:
        try:
            overloads = super()._load_index()
        except Exception:  # pickle raises anything for damaged files
            return {}
        return overloads if isinstance(overloads, dict) else {}

    def _load_data(self, name: str) -> Any:
        content = Path(self._data_path(name)).read_bytes()
        digest, data = content[: len(_digest(b""))], content[len(_digest(b"")) :]
        if digest != _digest(data):
            raise pickle.UnpicklingError(f"{name} is damaged")
        return pickle.loads(data)

    def _save_data(self, name: str, data: Any) -> None:
        dumped = self._dump(data)
        with self._open_for_write(self._data_path(name)) as file:
            file.write(_digest(dumped))
            file.write(dumped)

    def _data_name(self, number: int) -> str:
        return str(super()._data_name(uuid.uuid4().int >> 64))


def _digest(data: bytes) -> bytes:
    return hashlib.sha256(data).digest()


class SourcesCache(caching.FunctionCache):  # type: ignore[misc]
    """Numba's cache of a function's machine code, in the folder of its sources."""

    _impl_class = SourcesCacheImpl

    def __init__(self, function: Any) -> None:
        super().__init__(function)
        self._cache_file = _Index(
            self._cache_path, self._impl.filename_base, self._impl.locator.get_source_stamp()
        )

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the compiled code kept for a signature, or None if none can be read."""
        try:
            return super().load_overload(sig, target_context)
        except Exception:  # as pickle raises anything for damaged files
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Write compiled code to the cache; report a failure once per process."""
        try:
            super().save_overload(sig, data)
        except Exception as error:
            _print(
                f"compiled code cannot be kept in {self._cache_path} ({type(error).__name__}: {error}): the "
                "next process compiles it again",
                once="cannot be kept",
            )


def cache_for(function: Any, cache: type[SourcesCache] = SourcesCache) -> Any:
    """Return the cache of a function, or a null cache if there is no folder for it."""
    if cache_folder_for(function) is None:
        return caching.NullCache()
    return cache(function)


# Messages about compilation --------------------------------------------------------------------------------

_SECONDS = {"millebornes_env": 10, "millebornes_env.agents": 5, "millebornes_env.arena": 8, "train": 8}
"""Approximate seconds to compile all kernels of a package that a command needs, on a fast core."""
_OF_OTHERS = 5


_printed: set[str] = set()


def _print(sentence: str, once: str) -> None:
    """Print to stderr, at most once per process for the same `once`."""
    if once in _printed:
        return
    _printed.add(once)
    if os.environ.get("MILLEBORNES_COMPILE_MESSAGES") == "0" or sys.stderr is None:
        return
    with contextlib.suppress(OSError, ValueError):  # stderr is full or closed
        print(f"millebornes_env: {sentence}", file=sys.stderr, flush=True)


class _Announcer(numba_event.Listener):  # type: ignore[misc]
    """Prints to stderr that kernels are being compiled, once per package and process."""

    def on_start(self, event: Any) -> None:
        dispatcher = event.data["dispatcher"]
        module = dispatcher.py_func.__module__
        parents = (module, ".".join(module.split(".")[:2]), module.partition(".")[0])
        package = next((name for name in parents if name in _SECONDS), module)
        if package in _printed or not getattr(dispatcher, "is_kernel", False):
            return
        seconds = _SECONDS.get(package, _OF_OTHERS)
        folder = cache_folder_for(dispatcher.py_func)
        kept = (
            "and not kept: no cache folder can be written" if folder is None else f"kept in {folder.parent}"
        )
        _print(
            f"compiling kernels of {package}, up to {seconds} s on a fast core and {4 * seconds} s on a slow "
            f"one; each once for this version, {kept}",
            once=package,
        )

    def on_end(self, event: Any) -> None:
        pass


numba_event.register("numba:compile", _Announcer())
