"""Machine code is kept once for the same sources, wherever they lie, and people are told that it is made."""

from __future__ import annotations

import errno
import importlib
import itertools
import os
import shutil
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numba.core.caching import NullCache

import millebornes_env
from millebornes_env import vector_env
from millebornes_env.engine.numba import cache
from millebornes_env.engine.numba.cache import cache_folder_of, source_digest
from millebornes_env.engine.numba.compiling import IS_COMPILED, kernel, rule
from tests.each import each

PACKAGE = Path(millebornes_env.__file__).parent
FIRST_STEP = (
    "import millebornes_env as m\n"
    "env = m.vector_env(4, seed=1)\n"
    "env.reset()\n"
    "env.step(env.sample_actions())\n"
    "print(m.__file__)\n"
)

pytestmark = pytest.mark.skipif(not IS_COMPILED, reason="is about the compiler")


def run(script: str, folder: Path, path: Path, **surroundings: str) -> subprocess.CompletedProcess[str]:
    settings = {**os.environ, "PYTHONPATH": str(path), **surroundings}
    return subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=folder, env=settings
    )


def test_the_same_sources_at_another_place_are_not_compiled_again(tmp_path: Path) -> None:
    env = vector_env(4, seed=1)
    env.reset()
    env.step(env.sample_actions())
    shutil.copytree(PACKAGE, tmp_path / PACKAGE.name, ignore=shutil.ignore_patterns("__pycache__"))
    done = run(FIRST_STEP, tmp_path, tmp_path, MILLEBORNES_COMPILE_MESSAGES="1")
    assert done.stdout.startswith(str(tmp_path)), "it ran the sources of another place"
    assert done.stderr == ""


# A module of one's own -------------------------------------------------------------------------------------

KERNELS = """
from millebornes_env.engine.numba.compiling import kernel
from rules_of_test import factor

@kernel
def multiplied(number):
    return number * factor(number)

@kernel
def total(pair):
    return pair[0] + pair[1]
"""
RULES = """
from millebornes_env.engine.numba.compiling import rule

@rule
def factor(number):
    return 2
"""
SCORES = """
from typing import NamedTuple

class Scores(NamedTuple):
    mine: int
    yours: int
"""


class Modules:
    """Modules with kernels, in a folder with a cache, and imported as a new process would import them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.cache = folder / "cache"
        for name, text in (
            ("kernels_of_test", KERNELS),
            ("rules_of_test", RULES),
            ("scores_of_test", SCORES),
        ):
            (folder / f"{name}.py").write_text(text, encoding="utf-8")

    def forget(self) -> None:
        for name in ("kernels_of_test", "rules_of_test", "scores_of_test"):
            sys.modules.pop(name, None)
        cache._cache_folder.cache_clear()
        cache.cache_folder_of.cache_clear()

    def imported(self, name: str = "kernels_of_test") -> Any:
        self.forget()
        importlib.invalidate_caches()
        return importlib.import_module(name)

    def played(self) -> tuple[int, bool]:
        """Return the kernel's result for 4, and whether it was found in the cache."""
        multiplied = self.imported().multiplied
        return multiplied(4), sum(multiplied.stats.cache_hits.values()) == 1

    def files(self, ending: str) -> list[Path]:
        return sorted(self.cache.rglob(f"*multiplied*.{ending}"))


@pytest.fixture
def modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Modules]:
    made = Modules(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.setattr(cache._config, "CACHE_DIR", str(made.cache))
    monkeypatch.setattr(cache, "_printed", set())
    monkeypatch.setenv("MILLEBORNES_COMPILE_MESSAGES", "1")
    yield made
    made.forget()


def test_a_rule_that_changes_in_another_file_is_compiled_with_what_calls_it(modules: Modules) -> None:
    modules.played()
    rules = modules.folder / "rules_of_test.py"
    rules.write_text(RULES.replace("return 2", "return 3"), encoding="utf-8")
    assert [modules.played(), modules.played()] == [(12, False), (12, True)]


def halve(file: Path) -> None:
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])


def change_a_bit(file: Path) -> None:
    content = bytearray(file.read_bytes())
    content[-100] ^= 1
    file.write_bytes(content)


DAMAGES: dict[str, Callable[[Path], object]] = {
    "empty": lambda file: file.write_bytes(b""),
    "halved": halve,
    "zeros": lambda file: file.write_bytes(bytes(file.stat().st_size)),
    "garbage": lambda file: file.write_bytes(os.urandom(1000)),
    "another object": lambda file: file.write_bytes(b"N.N."),
    "a wrong bit": change_a_bit,
    "gone": Path.unlink,
}


@each("ending, damage", itertools.product(["nbi", "nbc"], DAMAGES))
def test_a_damaged_file_is_compiled_and_written_anew(
    modules: Modules, ending: str, damage: str, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.rmtree(modules.cache, ignore_errors=True)
    modules.played()
    for file in modules.files(ending):
        DAMAGES[damage](file)
    assert [modules.played(), modules.played()] == [(8, False), (8, True)]
    assert "cannot be kept" not in capsys.readouterr().err


@pytest.mark.parametrize("ending", ["nbi", "nbc"])
def test_what_can_be_neither_read_nor_written_is_said_once(
    modules: Modules, ending: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """A folder in the file's place: root may read and write every file."""
    modules.played()
    for file in modules.files(ending):
        file.unlink()
        file.mkdir()
    assert [modules.played(), modules.played()] == [(8, False), (8, False)]
    (line,) = [line for line in capsys.readouterr().err.splitlines() if "cannot be kept" in line]
    assert str(modules.cache) in line


def test_a_full_disk_keeps_nothing(
    modules: Modules, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(cache._Index, "_open_for_write", full)
        assert [modules.played(), modules.played()] == [(8, False), (8, False)]
    assert capsys.readouterr().err.count("No space left on device") == 1
    assert [modules.played(), modules.played()] == [(8, False), (8, True)]


def test_a_class_that_is_not_there_any_more_is_no_error(modules: Modules) -> None:
    """Somebody ran a game of their own, and now runs ours from another folder."""
    scores = modules.folder / "scores_of_test.py"
    result = []
    for _ in range(2):
        total = modules.imported().total
        result.append(total(importlib.import_module("scores_of_test").Scores(1, 2)))
        scores.rename(scores.with_suffix(".away"))
        result.append(modules.imported().total((3, 4)))
        scores.with_suffix(".away").rename(scores)
    assert result == [3, 7, 3, 7]


@pytest.mark.parametrize(("messages", "lines"), [("1", 1), ("0", 0)])
def test_what_is_compiled_is_said_once_before_it_begins(
    modules: Modules,
    messages: str,
    lines: int,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("MILLEBORNES_COMPILE_MESSAGES", messages)
    kernels = modules.imported()
    assert (kernels.multiplied(2), kernels.total((2, 3))) == (4, 5)
    told = capsys.readouterr().err
    assert told.count("millebornes_env: compiling kernels of kernels_of_test, up to 5 s") == lines
    assert told.count("\n") == lines
    monkeypatch.setattr(cache, "_printed", set())
    assert modules.played() == (4 * 2, True)
    assert capsys.readouterr().err == "", "the second time it is on disk"


# The folder ------------------------------------------------------------------------------------------------


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Path, Path]]:
    """Paths of the user's cache and of the cache in the temporary folder."""
    monkeypatch.setattr(cache._config, "CACHE_DIR", "")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))
    (tmp_path / "tmp").mkdir(mode=0o777)
    kept = (cache._cache_folder, cache.cache_folder_of, cache._forget_old_caches)
    for function in kept:
        function.cache_clear()
    yield cache._user_base(), cache._temporary_base()
    for function in kept:
        function.cache_clear()


def chosen() -> Path | None:
    cache._cache_folder.cache_clear()
    cache.cache_folder_of.cache_clear()
    folder = cache._cache_folder(frozenset())
    return None if folder is None else folder.parent


def close_home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))


def test_the_users_own_folder_comes_first_and_is_private(places: tuple[Path, Path]) -> None:
    assert chosen() == places[0]
    assert stat.S_IMODE(places[0].stat().st_mode) == 0o700


def test_folders_that_nothing_has_used_for_a_month_are_removed(places: tuple[Path, Path]) -> None:
    for name, days in (("old", 40), ("new", 20)):
        (places[0] / name).mkdir(mode=0o700, parents=True)
        os.utime(places[0] / name, (time.time() - days * 86_400,) * 2)
    assert chosen() == places[0]
    assert (places[0] / "new").exists()
    assert not (places[0] / "old").exists()


def test_without_a_home_it_is_in_the_temporary_folder_and_private(
    places: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    close_home(monkeypatch, tmp_path)
    assert chosen() == places[1]
    assert stat.S_IMODE(places[1].stat().st_mode) == 0o700
    monkeypatch.delenv("XDG_CACHE_HOME")

    def no_home() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", no_home)
    assert chosen() == places[1]


def open_to_others(base: Path, elsewhere: Path) -> None:
    base.mkdir()
    base.chmod(0o777)


def open_to_a_group(base: Path, elsewhere: Path) -> None:
    base.mkdir()
    base.chmod(0o770)


def a_link(base: Path, elsewhere: Path) -> None:
    elsewhere.mkdir(mode=0o700)
    base.symlink_to(elsewhere)


def a_file(base: Path, elsewhere: Path) -> None:
    base.touch(mode=0o600)


@pytest.mark.parametrize("make", [open_to_others, open_to_a_group, a_link, a_file])
def test_machine_code_is_not_loaded_from_where_others_could_have_put_it(
    make: Callable[[Path, Path], None],
    places: tuple[Path, Path],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    close_home(monkeypatch, tmp_path)
    make(places[1], tmp_path / "elsewhere")
    assert chosen() is None
    assert isinstance(cache.cache_for(halved.py_func), NullCache)  # type: ignore[attr-defined]


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="is about the owners of files")
def test_machine_code_is_not_loaded_from_somebody_elses_folder(
    places: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    other = os.getuid() + 1
    places[0].mkdir(parents=True)
    (tmp_path / "tmp" / f"millebornes_env-{other}").mkdir(mode=0o700)
    monkeypatch.setattr(os, "getuid", lambda: other)
    assert chosen() is None


def test_a_folder_that_the_user_has_linked_or_shares_with_a_group_is_used(
    places: tuple[Path, Path], tmp_path: Path
) -> None:
    """On many systems a user's group has no other members, and homes lie on small disks."""
    (tmp_path / "home").mkdir()
    (tmp_path / "scratch").mkdir()
    (tmp_path / "scratch").chmod(0o775)
    places[0].symlink_to(tmp_path / "scratch")
    assert chosen() == places[0]
    (tmp_path / "scratch").chmod(0o777)
    assert chosen() == places[1]


# Without sources -------------------------------------------------------------------------------------------


def test_without_sources_there_is_a_digest_and_no_cache(
    places: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    result = source_digest()
    monkeypatch.setattr(cache, "_PACKAGE", PACKAGE / "__init__.py" / "millebornes_env")
    assert chosen() is None
    assert len(source_digest()) == 16
    assert source_digest() != result


@pytest.mark.parametrize("content", [b"\xa7\r\r\n\0\0millebornes_env", None])
def test_functions_of_byte_code_are_not_kept(
    content: bytes | None, modules: Modules, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing says when what they call has changed; `None`: the file lies in a zip file."""
    module = modules.imported()
    cache.cache_folder_of.cache_clear()
    file = modules.folder / ("module.pyc" if content else "kernels_of_test.py/kernels_of_test.py")
    if content:
        file.write_bytes(content)
    monkeypatch.setattr(module, "__file__", str(file))
    assert cache_folder_of("kernels_of_test") is None


def test_the_package_can_be_imported_from_a_zip_file(tmp_path: Path) -> None:
    archive = shutil.make_archive(str(tmp_path / "package"), "zip", PACKAGE.parent, PACKAGE.name)
    done = run("import millebornes_env; print(millebornes_env.__file__)", tmp_path, Path(archive))
    assert done.stdout.startswith(archive)


def test_an_edition_asked_for_in_a_zip_file_says_what_to_do(tmp_path: Path) -> None:
    archive = shutil.make_archive(str(tmp_path / "package"), "zip", PACKAGE.parent, PACKAGE.name)
    for name in ("parker", "arc_en_ciel"):
        script = f"import millebornes_env as m\ntry: m.edition('{name}')\nexcept ValueError as e: print(e)"
        assert "Unpack the package, or install it with pip" in run(script, tmp_path, Path(archive)).stdout


# Rules in kernels ------------------------------------------------------------------------------------------


@rule
def halved(number: int) -> int:
    return number >> 1


@kernel
def halves_of_all_kinds(small: np.ndarray, large: np.ndarray) -> int:
    return halved(small[0]) + halved(large[0]) + halved(7) + halved(len(small))


def test_a_rule_is_compiled_once_for_all_kinds_of_ints() -> None:
    compiled: Any = halves_of_all_kinds
    compiled._cache = NullCache()  # else a kernel that lies on disk asks for no rule
    assert halves_of_all_kinds(np.array([4], np.int8), np.array([6], np.int32)) == 2 + 3 + 3 + 0
    linked: Any = halved
    assert len(linked._linked.signatures) == 1
