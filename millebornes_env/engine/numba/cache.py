"""The cache of machine code: one folder for the same sources, wherever they are installed.

Numba's own cache names its folders after the path of a source file, so every clone, virtual environment and
container would compile anew; and it notices a change of the cached function's own file only, not of a
function which it calls in another file. So the cache lives in a folder named after a digest of all sources
that can be compiled: any change of a rule is a new folder, and the same sources share one.

For any other function (of the agents, the arena, your own) the digest has, on top, the files that its file
imports, directly or not, and that use this package.

Files that are damaged or cannot be read are compiled anew and written again. Where nothing can be kept (no
folder that can be written, one that somebody else could have filled, no source files to take a digest of),
everything works, and compiles in every process.
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
"""Folders of this package whose files count for those functions only that they belong to."""
_DAYS_TO_KEEP_OLD_CACHES = 30

_config: Any = config  # Numba fills its module with settings as it starts


def source_digest(others: frozenset[Path] = frozenset()) -> str:
    """Sixteen hexadecimal digits that change with any source that can be compiled.

    Where the sources cannot be read (in a zip file, or if only their byte code is installed), the digits
    change with the version only.

    Args:
        others: files besides those that every digest has.
    """
    try:
        return _digest_of_files(others)
    except OSError:
        return hashlib.sha256(versions().get("millebornes-env", "").encode()).hexdigest()[:16]


def _digest_of_files(others: frozenset[Path]) -> str:
    """`source_digest` of sources that can be read.

    Raises:
        OSError: they cannot.
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


def sources_on_top(module_name: str, found: frozenset[Path] = frozenset()) -> frozenset[Path]:
    """The files outside of rulebook and engine that decide what a module compiles to, its own included.

    Those are the files that it imports, directly or not, and that use this package: for functions that it
    calls, and for constants that become a part of its machine code.

    Args:
        module_name: of a module that is being imported, its own imports done.
        found: files that are known already.
    """
    file = getattr(sys.modules.get(module_name), "__file__", None)
    if file is None or Path(file) in found or _is_in_every_digest(Path(file)):
        return found
    try:
        source = Path(file).read_text(encoding="utf-8", errors="replace")
        if _OWN_NAME not in source:
            return found
        names = _imports_of(source)
    except (OSError, SyntaxError, ValueError):  # in a zip file, or byte code: what it imports is not known
        return found | {Path(file)}
    found |= {Path(file)}
    for name in names:
        found = sources_on_top(name, found)
    return found


@functools.cache
def _imports_of(source: str) -> tuple[str, ...]:
    """The names that a source imports, those of modules among them; each once.

    Raises:
        SyntaxError: the source is no Python.
        ValueError: it has a byte of 0.
    """
    names: list[str | None] = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom):
            names += [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        elif isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
    return tuple(dict.fromkeys(filter(None, names)))


def _is_in_every_digest(file: Path) -> bool:
    """Return True if a file is in every digest (rulebook, engine) or holds nothing that is compiled."""
    if not file.is_relative_to(_PACKAGE):
        return False
    return not file.relative_to(_PACKAGE).as_posix().startswith(_COMPILED_ON_TOP)


def _user_base() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "millebornes_env"


def _temporary_base() -> Path:
    uid = os.getuid() if hasattr(os, "getuid") else "user"
    return Path(tempfile.gettempdir()) / f"millebornes_env-{uid}"


def _make_private(base: Path, writers: int, *, may_be_link: bool) -> None:
    """Make a folder for this user alone, or check one that is there: its files are run as programs.

    Args:
        base: the folder.
        writers: bits of a mode, of those who must not be able to write there.
        may_be_link: a link to such a folder will do.

    Raises:
        PermissionError: it is no folder, somebody else's, or others can write to it.
    """
    base.parent.mkdir(parents=True, exist_ok=True)
    with contextlib.suppress(FileExistsError):
        base.mkdir(mode=0o700)
    own, result = base.lstat(), base.stat() if may_be_link else base.lstat()
    if not stat.S_ISDIR(result.st_mode):
        raise PermissionError(f"{base} is not a folder")
    if hasattr(os, "getuid"):
        users = {own.st_uid, result.st_uid}  # who owns a link can make it point to somewhere else
        if users != {os.getuid()} or result.st_mode & writers:
            raise PermissionError(f"others can write to {base}")


@functools.cache
def _cache_folder(others: frozenset[Path]) -> Path | None:
    """Return the cache folder: the user's `NUMBA_CACHE_DIR` or our own; None if there is no usable one."""
    try:
        # Numba does not note in its cache whether indices were checked.
        name = _digest_of_files(others) + ("-checked" if _config.BOUNDSCHECK else "")
    except OSError:  # they lie in a zip file, or only their byte code is installed
        return None
    if _config.CACHE_DIR:  # the user has chosen it, so nobody checks who else can write there
        with contextlib.suppress(OSError):
            return _writable(Path(_config.CACHE_DIR) / name)
    # In the temporary folder everybody can make files and links. At home, a group is often one user.
    places = ((_user_base, stat.S_IWOTH, True), (_temporary_base, stat.S_IWGRP | stat.S_IWOTH, False))
    for base_of, writers, may_be_link in places:
        with contextlib.suppress(OSError, RuntimeError):  # RuntimeError: this user has no home
            base = base_of()
            _make_private(base, writers, may_be_link=may_be_link)
            folder = _writable(base / name)
            _forget_old_caches(base, folder)
            return folder
    return None


def _writable(folder: Path) -> Path:
    """The folder, made and tried.

    Raises:
        OSError: nothing can be written there.
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
        A folder that can be written to, or None: there is none, or the functions come from no file that can
        be read (a notebook's cells, a zip file), so that nothing says when they have changed.
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
    """Return the cache folder of a function; `compiled_with` names modules besides its own."""
    return cache_folder_of(function.__module__, *getattr(function, "compiled_with", ()))


def _forget_old_caches(base: Path, current: Path) -> None:
    """Remove the caches of sources that have not been imported for a month."""
    oldest = time.time() - _DAYS_TO_KEEP_OLD_CACHES * 86_400
    with contextlib.suppress(OSError):  # another process removes them, too
        for folder in base.iterdir():
            if folder != current and folder.is_dir() and folder.stat().st_mtime < oldest:
                shutil.rmtree(folder, ignore_errors=True)


class _SourcesLocator(caching._CacheLocator):  # type: ignore[misc] # Numba has no type hints
    """Tells Numba's cache the folder of a function; the folder's name says which sources it is of."""

    def __init__(self, function: Any, folder: Path) -> None:
        self._py_file = function.__code__.co_filename  # where Numba's warnings point to
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
    """Numba's cache of functions in a folder of our own."""

    _locator_classes = (_SourcesLocator,)


class _Index(caching.IndexDataCacheFile):  # type: ignore[misc]
    """Numba's list of the signatures for which a function has been compiled, and their files.

    Kernels that run any game list classes of games that somebody else has written. Where the module of such a
    class is not found, or the list is damaged, it cannot be read; what is compiled then makes a new one, with
    new files, as another process may have read the old list.

    Each data file begins with a digest of the rest: damaged machine code would crash.
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
        """Keep what was compiled; say once in a process if that fails."""
        try:
            super().save_overload(sig, data)
        except Exception as error:
            _say(
                f"compiled code cannot be kept in {self._cache_path} ({type(error).__name__}: {error}): the "
                "next process compiles it again",
                once="cannot be kept",
            )


def cache_for(function: Any, cache: type[SourcesCache] = SourcesCache) -> Any:
    """The cache of a function, or one that keeps nothing where there is no folder for it."""
    if cache_folder_for(function) is None:
        return caching.NullCache()
    return cache(function)


# What is said while a kernel is compiled ------------------------------------------------------------------

_SECONDS = {"millebornes_env": 10, "millebornes_env.agents": 5, "millebornes_env.arena": 8, "train": 8}
"""About how long a fast core compiles all kernels of a package that a command needs."""
_OF_OTHERS = 5


_said: set[str] = set()


def _say(sentence: str, once: str) -> None:
    """Print to stderr, at most once in a process for the same `once`."""
    if once in _said:
        return
    _said.add(once)
    if os.environ.get("MILLEBORNES_COMPILE_MESSAGES") == "0" or sys.stderr is None:
        return
    with contextlib.suppress(OSError, ValueError):  # stderr is full or closed
        print(f"millebornes_env: {sentence}", file=sys.stderr, flush=True)


class _Announcer(numba_event.Listener):  # type: ignore[misc]
    """Says on stderr, before it begins, whose kernels are compiled: once for each package and process."""

    def on_start(self, event: Any) -> None:
        dispatcher = event.data["dispatcher"]
        module = dispatcher.py_func.__module__
        parents = (module, ".".join(module.split(".")[:2]), module.partition(".")[0])
        what = next((name for name in parents if name in _SECONDS), module)
        if what in _said or not getattr(dispatcher, "is_kernel", False):
            return
        seconds = _SECONDS.get(what, _OF_OTHERS)
        folder = cache_folder_for(dispatcher.py_func)
        kept = (
            "and not kept: no cache folder can be written" if folder is None else f"kept in {folder.parent}"
        )
        _say(
            f"compiling {what}, up to {seconds} s on a fast core and {4 * seconds} s on a slow one; once for "
            f"this version, {kept}",
            once=what,
        )

    def on_end(self, event: Any) -> None:
        pass


numba_event.register("numba:compile", _Announcer())
