"""The wheel, built from the source distribution and installed where no checkout is: `make wheel-test`.

That takes a minute or two, and the package index: what a wheel is built with is installed for that build.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from export.build import wheel_platform

ROOT = Path(__file__).resolve().parents[2]
pytestmark = [
    pytest.mark.wheel,
    pytest.mark.skipif(wheel_platform() is None, reason="the machine code of this platform is not tested"),
]

EVERYDAY = """
import numpy as np
from millebornes_env import machine_code, millebornes_v0, notation, vector_env

env = vector_env(4096, seed=0)
env.reset()
env.step(env.sample_actions())
env.observe(0), env.determinize(0), env.state(), env.set_states(env.get_states())
env.reset(options={"reset_mask": np.arange(4096) < 9}), env.render(0)
game = millebornes_v0.env()
game.reset(seed=1)
for _ in game.agent_iter(20):
    observation, *_, ended, _, _ = game.last()
    game.step(None if ended else int(np.argmax(observation["action_mask"])))
begun = notation.Position(env.edition, env.rules, env.get_states()[:1])
list(notation.replay(notation.record_of(begun, env.sample_actions()[:1])))
print(machine_code.status())
"""

AGENTS = """
from millebornes_env import agents
from millebornes_env.arena.evaluation import evaluate

(row,) = evaluate("champion", ["strategist"], deals=100)
print(agents.__file__, row.win_rate > 0.4)
"""


def run(*command: object, cwd: Path, **environment: str) -> str:
    """What a command prints; its complaints are the test's, if it fails."""
    variables = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        list(map(str, command)),
        cwd=cwd,
        env=variables | environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the source distribution and the wheel that was built from it."""
    folder = tmp_path_factory.mktemp("dist")
    constraints = ROOT / "constraints.txt"
    run(sys.executable, "-m", "build", "--outdir", folder, ROOT, cwd=ROOT, PIP_CONSTRAINT=str(constraints))
    return folder


@pytest.fixture(scope="module")
def installed(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of an empty environment with the wheel; its libraries are those of this one."""
    folder = tmp_path_factory.mktemp("venv")
    run(sys.executable, "-m", "venv", "--without-pip", folder, cwd=folder)
    python = folder / "bin" / "python"
    pip = [sys.executable, "-m", "pip", "--python", python]
    run(*pip, "install", "--no-deps", "--no-index", *built.glob("*.whl"), cwd=folder)
    packages = next(folder.glob("lib/python*/site-packages"))
    libraries = [path for path in sys.path if Path(path).name == "site-packages"]
    (packages / "libraries.pth").write_text("\n".join(libraries) + "\n")
    found = run(python, "-c", "import millebornes_env; print(millebornes_env.__file__)", cwd=folder)
    assert Path(found.strip()).is_relative_to(packages)
    return python


def test_nothing_is_compiled_for_everyday_use(installed: Path, tmp_path: Path) -> None:
    """Not from process start through reset, step, observe, determinize, states, pictures, AEC and records."""
    printed = run(installed, "-c", EVERYDAY, cwd=tmp_path, NUMBA_CACHE_DIR=str(tmp_path / "cache"))
    assert printed.startswith("used: ")
    assert not list((tmp_path / "cache").rglob("*.nb*"))


def test_the_wheel_brings_opponents(installed: Path, tmp_path: Path) -> None:
    """The champion with its weights and the agents that follow rules, without the checkout."""
    file, plays_well = run(installed, "-c", AGENTS, cwd=tmp_path).split()
    assert not Path(file).is_relative_to(ROOT)
    assert plays_well == "True"
    printed = run(
        installed, "-m", "millebornes_env", "arena", "greedy", "random", "--deals", 20, cwd=tmp_path
    )
    assert "greedy" in printed


def test_golden_games_and_bits_are_the_same(installed: Path, tmp_path: Path) -> None:
    """The tests that replay golden games and compare with Numba, away from the checkout."""
    shutil.copytree(ROOT / "tests", tmp_path / "tests", ignore=shutil.ignore_patterns("__pycache__"))
    chosen = ["tests/compile/test_machine_code.py", "tests/golden/test_golden.py"]
    options = ["-q", "-rs", "--import-mode=importlib", "-p", "no:cacheprovider", "--rootdir", tmp_path]
    printed = run(
        installed, "-m", "pytest", *options, *chosen, cwd=tmp_path, NUMBA_CACHE_DIR=str(tmp_path / "cache")
    )
    summary = printed.splitlines()[-1]
    assert "passed" in summary
    skipped = [line for line in printed.splitlines() if line.startswith("SKIPPED")]
    assert len(skipped) == 1
    assert "is about the other ways to run" in skipped[0]


def test_the_wheel_holds_the_package_only(built: Path) -> None:
    (wheel,) = built.glob("*.whl")
    with zipfile.ZipFile(wheel) as files:
        folders = {name.partition("/")[0] for name in files.namelist()}
    assert {folder for folder in folders if not folder.endswith(".dist-info")} == {"millebornes_env"}
    assert wheel.name.partition("-py3-none-")[2].startswith("manylinux_2_17_x86_64")


def test_the_source_distribution_holds_no_machine_code(built: Path) -> None:
    (source,) = built.glob("*.tar.gz")
    with tarfile.open(source) as files:
        names = [name.partition("/")[2] for name in files.getnames()]
    assert "export/build.py" in names
    assert not [name for name in names if name.startswith("millebornes_env/machine_code/kernels")]


def test_pip_builds_the_same_wheel_from_the_checkout(built: Path, tmp_path: Path) -> None:
    """`pip install .` of the README: pip's build environment is another one than that of `build`."""
    constraint = {"PIP_CONSTRAINT": str(ROOT / "constraints.txt")}
    run(sys.executable, "-m", "pip", "wheel", "--no-deps", "-w", tmp_path, ROOT, cwd=tmp_path, **constraint)
    (ours,), (pips,) = built.glob("*.whl"), tmp_path.glob("*.whl")
    assert pips.name == ours.name
    contents = [set(zipfile.ZipFile(wheel).namelist()) for wheel in (ours, pips)]
    assert contents[0] == contents[1]
