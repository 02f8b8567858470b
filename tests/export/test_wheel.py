"""The wheel, built from the source distribution and installed where no checkout is: `make test-wheel`.

That takes a few minutes, and the package index: what a wheel is built with is installed for that build. Tests
use the compiled code of the checkout, which has the same sources; one begins with an empty cache.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

from export.build import holds_machine_code
from tests.pages import examples_of, section_of

ROOT = Path(__file__).resolve().parents[2]
pytestmark = [
    pytest.mark.wheel,
    pytest.mark.skipif(not holds_machine_code(), reason="there is no machine code for this platform"),
]

EVERYDAY = """
import numpy as np
from millebornes_env import millebornes_v0, notation, vector_env
from millebornes_env.engine.numba import machine_code

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

FACES = ("vector", "aec", "one_learner", "many_learners", "text", "learning", "opponents")
COMMANDS = ("editions", "replay", "play", "evaluate", "arena", "record", "leaderboard", "train")
LARGEST_WHEEL = 3_000_000  # bytes

SLIPS = """
from millebornes_env import VectorEnv, vector_env

vector_env(4, seed="one")
games: str = vector_env(4).num_envs
VectorEnv.no_such_thing
"""


def run(*command: object, cwd: Path, code: int = 0, **environment: str) -> str:
    """Run a command and return its output, with stderr if it should fail; unexpected errors fail the test."""
    variables = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        list(map(str, command)),
        cwd=cwd,
        env=variables | environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout + done.stderr if code else done.stdout


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the source distribution and the wheel that was built from it."""
    folder = tmp_path_factory.mktemp("dist")
    constraints = ROOT / "constraints.txt"
    run(sys.executable, "-m", "build", "--outdir", folder, ROOT, cwd=ROOT, PIP_CONSTRAINT=str(constraints))
    return folder


@pytest.fixture(scope="module")
def anywhere(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel without machine code, for all platforms."""
    folder = tmp_path_factory.mktemp("any")
    pip = [sys.executable, "-m", "pip", "wheel", "--no-deps", "-w", folder, ROOT]
    constraint = {"PIP_CONSTRAINT": str(ROOT / "constraints.txt")}
    run(*pip, cwd=folder, MILLEBORNES_WHEEL_PLATFORM="any", **constraint)
    (wheel,) = folder.glob("*.whl")
    return wheel


def programs_with(wheel: Path, folder: Path) -> Path:
    """The programs of an empty environment with the wheel; its libraries are those of this one."""
    folder.mkdir(exist_ok=True)
    run(sys.executable, "-m", "venv", "--without-pip", folder, cwd=folder)
    python = folder / "bin" / "python"
    pip = [sys.executable, "-m", "pip", "--python", python]
    run(*pip, "install", "--no-deps", "--no-index", wheel, cwd=folder)
    packages = next(folder.glob("lib/python*/site-packages"))
    libraries = [path for path in sys.path if Path(path).name == "site-packages"]
    (packages / "libraries.pth").write_text("\n".join(libraries) + "\n")
    result = run(python, "-c", "import millebornes_env; print(millebornes_env.__file__)", cwd=folder)
    assert Path(result.strip()).is_relative_to(packages)
    return folder / "bin"


@pytest.fixture(scope="module")
def installed(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of an environment with the wheel."""
    (wheel,) = built.glob("*.whl")
    return programs_with(wheel, tmp_path_factory.mktemp("venv")) / "python"


def environment_with(what: str, folder: Path) -> Path:
    """The folder with the programs of a new environment, where pip has installed that and what it needs."""
    folder.mkdir(exist_ok=True)
    run(sys.executable, "-m", "venv", folder, cwd=folder)
    pinned = {"PIP_CONSTRAINT": str(ROOT / "constraints.txt")}
    run(folder / "bin" / "python", "-m", "pip", "install", "--no-compile", what, cwd=folder, **pinned)
    return folder / "bin"


@pytest.fixture(scope="module")
def bare(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs of an environment with the wheel, without extras."""
    (wheel,) = built.glob("*.whl")
    return environment_with(str(wheel), tmp_path_factory.mktemp("bare"))


@pytest.fixture(scope="module")
def with_arena(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs of an environment with the wheel and its extra `arena`."""
    (wheel,) = built.glob("*.whl")
    return environment_with(f"{wheel}[arena]", tmp_path_factory.mktemp("with_arena"))


def test_nothing_is_compiled_for_everyday_use(installed: Path, tmp_path: Path) -> None:
    """Not from process start through reset, step, observe, determinize, states, pictures, AEC and records."""
    printed = run(installed, "-c", EVERYDAY, cwd=tmp_path, NUMBA_CACHE_DIR=str(tmp_path / "cache"))
    assert printed.startswith("used: ")
    assert not list((tmp_path / "cache").rglob("*.nb*"))


def test_every_face_away_from_the_checkout(with_arena: Path, tmp_path: Path) -> None:
    """In an environment that pip has made: both games, and the champion against the strategist."""
    script = shutil.copy(ROOT / "tests" / "export" / "every_face.py", tmp_path)
    lines = run(with_arena / "python", script, cwd=tmp_path).splitlines()
    assert [line.partition(":")[0] for line in lines] == [*FACES, "machine code", "package"]
    assert "champion wins" in lines[FACES.index("opponents")]
    assert lines[-2].startswith("machine code: used: ")
    assert not Path(lines[-1].partition(" in ")[2]).is_relative_to(ROOT)


def test_the_face_for_stable_baselines3(installed: Path, tmp_path: Path) -> None:
    """With the libraries of this environment, since PyTorch is large."""
    pytest.importorskip("stable_baselines3")
    script = shutil.copy(ROOT / "tests" / "export" / "every_face.py", tmp_path)
    printed = run(installed, script, "--sb3", cwd=tmp_path)
    assert "sb3: SB3VecEnv" in printed


def test_the_console_command(with_arena: Path, tmp_path: Path) -> None:
    """It lists and runs commands, and names a missing extra or checkout."""
    millebornes = with_arena / "millebornes"
    version = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    assert run(millebornes, "--version", cwd=tmp_path) == f"millebornes-env {version}\n"
    told = run(millebornes, "--help", cwd=tmp_path, COLUMNS="200")
    assert all(
        re.search(rf"^ +{command} +[a-z]", told, re.MULTILINE) for command in (*COMMANDS, "export", "solve")
    ), told
    assert "arc_en_ciel" in run(millebornes, "editions", cwd=tmp_path)
    assert "greedy" in run(millebornes, "arena", "greedy", "random", "--deals", 20, cwd=tmp_path)
    assert "usage: millebornes arena" in run(millebornes, "arena", "--help", cwd=tmp_path)
    told = run(millebornes, "record", "greedy", "random", "--out", "data", cwd=tmp_path, code=2)
    assert "pip install 'millebornes-env[data]'" in told.splitlines()[-1]
    told = run(millebornes, "train", "selfplay", cwd=tmp_path, code=2)
    assert "in a checkout of the repository, pip install -e '.[train]'" in told
    assert "Traceback" not in told


def test_what_an_extra_brings_is_named(bare: Path, tmp_path: Path) -> None:
    """Without extras, by the command and by Python's errors."""
    assert "parker" in run(bare / "millebornes", "editions", cwd=tmp_path)
    for command in set(COMMANDS) - {"editions", "replay", "train"}:
        told = run(bare / "millebornes", command, cwd=tmp_path, code=2)
        extra = "data" if command == "record" else "arena"
        assert told.startswith(f"error: the command {command} needs "), told
        assert told.endswith(f"which is not installed: pip install 'millebornes-env[{extra}]'\n")
    for program, extra in (
        ("from millebornes_env import *; from millebornes_env import agents as a\n"
         "a.load('champion', vector_env(1))", "arena"),
        ("import millebornes_env.envs.sb3", "train"),
        ("import millebornes_env.play.language.textarena", "textarena"),
    ):  # fmt: skip
        told = run(bare / "python", "-c", program, cwd=tmp_path, code=1).splitlines()[-1]
        assert told.startswith("millebornes_env.errors.MissingExtraError: "), told
        assert told.endswith(f"pip install 'millebornes-env[{extra}]'")


def test_rule_based_agents_need_no_extra(bare: Path, tmp_path: Path) -> None:
    program = (
        "import gymnasium; env = gymnasium.make('millebornes_env:millebornes/MilleBornes-v0', "
        "opponent='strategist'); _, info = env.reset(seed=1); env.step(int(info['action_mask'].argmax()))"
    )
    run(bare / "python", "-W", "error", "-c", program, cwd=tmp_path)


def test_a_users_script_is_checked_by_mypy(installed: Path, tmp_path: Path) -> None:
    """The types come with the package: a script that uses it rightly passes, slips are found."""
    (tmp_path / "slips.py").write_text(SLIPS, encoding="utf-8")
    script = shutil.copy(ROOT / "tests" / "export" / "every_face.py", tmp_path)
    mypy = [sys.executable, "-m", "mypy", "--strict", "--disable-error-code", "import-untyped"]  # PettingZoo
    mypy += ["--python-executable", str(installed)]
    result = run(*mypy, script, "slips.py", cwd=tmp_path, code=1).splitlines()
    assert [line.partition(": error: ")[0] for line in result[:-1]] == [
        "slips.py:4",
        "slips.py:5",
        "slips.py:6",
    ]


def test_golden_games_and_bits_are_the_same(installed: Path, tmp_path: Path) -> None:
    """The tests that replay golden games and compare with Numba, away from the checkout."""
    shutil.copytree(ROOT / "tests", tmp_path / "tests", ignore=shutil.ignore_patterns("__pycache__"))
    chosen = ["tests/engine/numba/test_machine_code.py", "tests/golden/test_golden.py"]
    options = ["-q", "-rs", "--import-mode=importlib", "-p", "no:cacheprovider", "--rootdir", tmp_path]
    printed = run(installed, "-m", "pytest", *options, *chosen, cwd=tmp_path)
    summary = printed.splitlines()[-1]
    assert "passed" in summary
    skipped = [line for line in printed.splitlines() if line.startswith("SKIPPED")]
    assert len(skipped) == 1
    assert "is about the other ways to run" in skipped[0]


def test_the_wheel_holds_the_package_only(built: Path) -> None:
    (wheel,) = built.glob("*.whl")
    with zipfile.ZipFile(wheel) as files:
        folders = {name.partition("/")[0] for name in files.namelist()}
        assert not [name for name in files.namelist() if name.startswith("millebornes_env/play/web/engine/")]
    assert {folder for folder in folders if not folder.endswith(".dist-info")} == {"millebornes_env"}
    assert wheel.stat().st_size < LARGEST_WHEEL
    assert wheel.name.partition("-py3-none-")[2].startswith("manylinux_2_17_x86_64")


def test_the_wheel_for_all_platforms_plays(anywhere: Path, tmp_path: Path) -> None:
    """The snippets and a command of the README, with what the checkout has compiled of the same sources."""
    assert anywhere.name.endswith("-py3-none-any.whl")
    programs = programs_with(anywhere, tmp_path / "venv")
    for example, _ in examples_of(section_of("README.md")):
        run(programs / "python", "-c", example, cwd=tmp_path)
    command = [programs / "millebornes-env", "arena", "strategist", "arnold", "--deals", 2]
    assert "strategist" in run(*command, cwd=tmp_path)


def test_the_distributions_pass_the_checks_of_a_release(built: Path, anywhere: Path, tmp_path: Path) -> None:
    programs, files = Path(sys.executable).parent, [*built.iterdir(), anywhere]
    run(programs / "twine", "check", "--strict", *files, cwd=tmp_path)
    run(programs / "check-wheel-contents", *built.glob("*.whl"), anywhere, cwd=tmp_path)
    run(programs / "validate-pyproject", ROOT / "pyproject.toml", cwd=tmp_path)
    cffconvert = tmp_path / "venv"  # of its own, for it needs an old jsonschema
    run(sys.executable, "-m", "venv", cffconvert, cwd=tmp_path)
    pip = [cffconvert / "bin" / "python", "-m", "pip", "install", "--no-compile"]
    run(*pip, "cffconvert==2.0.0", cwd=tmp_path)
    citation = ROOT / "CITATION.cff"
    assert "valid" in run(cffconvert / "bin" / "cffconvert", "--validate", "-i", citation, cwd=tmp_path)


def test_the_source_distribution_holds_no_machine_code(built: Path) -> None:
    (source,) = built.glob("*.tar.gz")
    with tarfile.open(source) as files:
        names = [name.partition("/")[2] for name in files.getnames()]
    assert "export/build.py" in names
    assert not [
        name for name in names if name.startswith("millebornes_env/engine/numba/machine_code/kernels")
    ]
    assert not [name for name in names if name.startswith("millebornes_env/play/web/engine/")]


@pytest.mark.slow  # compiles the kernels once more
def test_pip_builds_the_same_wheel_from_the_checkout(built: Path, tmp_path: Path) -> None:
    """`pip install .` of the README: pip's build environment is another one than that of `build`."""
    constraint = {"PIP_CONSTRAINT": str(ROOT / "constraints.txt")}
    run(sys.executable, "-m", "pip", "wheel", "--no-deps", "-w", tmp_path, ROOT, cwd=tmp_path, **constraint)
    (ours,), (pips,) = built.glob("*.whl"), tmp_path.glob("*.whl")
    assert pips.name == ours.name
    contents = [set(zipfile.ZipFile(wheel).namelist()) for wheel in (ours, pips)]
    assert contents[0] == contents[1]
