"""A run folder in use: drafts of killed runs go, nobody else gets in, and it may be removed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from millebornes_env._util.files import remove_drafts, replacing
from tests.each import each
from tests.train.short_runs import read
from train.common.run_folder import RunError, RunFolder
from train.common.runs import Scalars, start_wandb


@pytest.fixture
def gone() -> int:
    """The number of a process that has ended."""
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


def draft(folder: Path, process: int, name: str = "policy.json", age: float = 0.0) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f".{name}.{process}-0a1b2c3d.tmp"
    path.write_text("half", encoding="utf-8")
    os.utime(path, (path.stat().st_atime - age, path.stat().st_mtime - age))
    return path


def test_drafts_of_processes_that_are_gone_are_removed(tmp_path: Path, gone: int) -> None:
    dead = [draft(tmp_path, gone), draft(tmp_path, gone, "config.json"), draft(tmp_path, os.getpid())]
    assert sorted(remove_drafts(tmp_path)) == sorted(dead)
    assert list(tmp_path.iterdir()) == []


def test_drafts_that_are_being_written_stay(tmp_path: Path) -> None:
    other = draft(tmp_path, os.getppid())
    with replacing(tmp_path / "policy.json") as own:
        own.write_text("half", encoding="utf-8")
        assert remove_drafts(tmp_path) == []
        assert own.exists()
    assert (tmp_path / "policy.json").exists()
    assert other.exists()
    assert remove_drafts(draft(tmp_path, os.getppid(), age=7200.0).parent) == [other]


@each(
    "name",
    [
        "policy.json",
        ".policy.json.tmp",
        "policy.json.1-0a1b2c3d.tmp",
        ".policy.json.x-0a1b2c3d.tmp",
        ".policy.json.999999-0a1b2c3d.tmp.bak",
        ".policy.json.999999-0A1B2C3D.tmp",
    ],
)
def test_what_is_no_draft_of_ours_stays(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("somebody's", encoding="utf-8")
    assert remove_drafts(tmp_path) == []


def test_folders_and_links_that_are_called_like_drafts_stay(tmp_path: Path, gone: int) -> None:
    (tmp_path / f".a.{gone}-0a1b2c3d.tmp").mkdir()
    (tmp_path / f".b.{gone}-0a1b2c3d.tmp").symlink_to("/etc/hostname")
    assert remove_drafts(tmp_path) == []
    assert remove_drafts(tmp_path / "nowhere") == []


def test_an_error_names_the_file_and_not_its_draft(tmp_path: Path) -> None:
    path = tmp_path / "policy.json"
    with pytest.raises(OSError, match="No space left") as full, replacing(path):
        raise OSError(28, "No space left on device")
    assert full.value.filename == str(path)
    path.mkdir()
    with pytest.raises(OSError, match="directory") as blocked, replacing(path) as new:
        new.write_text("whole", encoding="utf-8")
    assert (blocked.value.filename, blocked.value.filename2) == (str(path), None)
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.skipif(os.name == "nt", reason="there are no such files")
def test_nothing_takes_the_place_of_a_device_or_a_pipe(tmp_path: Path) -> None:
    """Root may rename a file to /dev/null, and then all programs write into it."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(OSError, match="cannot be replaced") as refused, replacing(pipe) as new:
        new.write_text("whole", encoding="utf-8")
    assert refused.value.filename == str(pipe)
    assert list(tmp_path.iterdir()) == [pipe]
    assert pipe.is_fifo()


def test_the_next_start_clears_up(tmp_path: Path, gone: int) -> None:
    left = [draft(tmp_path / "run", gone), draft(tmp_path / "run" / "best", gone)]
    (tmp_path / "run" / ".warm-up-x1").mkdir()
    with RunFolder(tmp_path / "run") as folder:
        assert not any(path.exists() for path in left)
        assert sorted(path.name for path in folder.path.iterdir()) == ["best", "run.lock"]


def test_nobody_else_gets_in(tmp_path: Path) -> None:
    with RunFolder(tmp_path), pytest.raises(RunError, match="another process is training in"):
        RunFolder(tmp_path).__enter__()
    with RunFolder(tmp_path):
        pass


@pytest.mark.parametrize("how", ["file", "lock is a folder"])
def test_a_folder_that_cannot_be_taken_is_told(tmp_path: Path, how: str) -> None:
    path = tmp_path / "run"
    if how == "lock is a folder":
        (path / "run.lock").mkdir(parents=True)
    else:
        path.write_text("in the way", encoding="utf-8")
    with pytest.raises(RunError, match=r"cannot be written .*choose another --run-dir"):
        RunFolder(path).__enter__()


@pytest.mark.parametrize("how", ["removed", "made anew"])
def test_a_folder_that_is_gone_can_be_taken_again(tmp_path: Path, how: str) -> None:
    with RunFolder(tmp_path / "run") as folder:
        assert folder.is_ours()
        shutil.rmtree(folder.path)
        if how == "made anew":
            folder.path.mkdir()
            (folder.path / "run.lock").touch()
        assert not folder.is_ours()
        folder.acquire()
        assert folder.is_ours()
        with pytest.raises(RunError, match="another process"):
            RunFolder(folder.path).__enter__()


def test_tensorboard_reads_what_was_added(tmp_path: Path) -> None:
    scalars = Scalars(tmp_path / "new", 0)
    scalars.add({"a/b": 1.5, "c": 2}, 10)
    scalars.add({"a/b": 2.5}, 20)
    assert read(tmp_path / "new") == {"a/b": [(10, 1.5), (20, 2.5)], "c": [(10, 2.0)]}
    scalars.close()
    resumed = Scalars(tmp_path / "new", 15)  # what was killed had gone farther
    resumed.add({"a/b": 3.5}, 25)
    resumed.close()
    assert read(tmp_path / "new")["a/b"] == [(10, 1.5), (25, 3.5)]


def test_a_folder_that_takes_no_files_is_a_problem_and_no_error(tmp_path: Path) -> None:
    blocked = tmp_path / "tensorboard"
    blocked.write_text("in the way", encoding="utf-8")
    scalars = Scalars(blocked, 0)
    scalars.add({"a": 1.0}, 1)
    assert isinstance(scalars.problem, OSError)
    blocked.unlink()
    scalars.add({"a": 2.0}, 2)
    assert scalars.problem is None
    scalars.close()
    assert read(blocked) == {"a": [(2, 2.0)]}


def test_weights_and_biases_get_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    logged = []

    class Fake:
        """The parts used of a library that is not installed here."""

        @staticmethod
        def init(**options: object) -> type[Fake]:
            logged.append(options)
            return Fake

        @staticmethod
        def log(values: dict[str, float], step: int) -> None:
            logged.append((values, step))

    monkeypatch.setitem(sys.modules, "wandb", Fake)
    scalars = Scalars(tmp_path, 0, start_wandb("mine", "first", {"seed": 1}))
    scalars.add({"a": 1.0}, 5)
    scalars.close()
    assert logged == [{"project": "mine", "name": "first", "config": {"seed": 1}}, ({"a": 1.0}, 5)]
