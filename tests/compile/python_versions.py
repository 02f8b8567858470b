"""The wheel under each Python that the package admits, and with the lowest libraries: `make python-versions`.

Each run makes an environment of its own, installs the wheel there with pip, and runs tests away from the
checkout. What they did is kept as JSON in `results/python_versions`; `--docs` writes docs/python_versions.md
from it. An interpreter is looked for on the path and among those of pyenv and uv; or name it:

    python -m tests.compile.python_versions --docs
    python -m tests.compile.python_versions 3.12 lowest --python 3.12=/opt/python3.12/bin/python
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import tyro
from packaging.requirements import Requirement

from millebornes_env.command_line import carry_out, say
from millebornes_env.errors import MilleBornesError, shown
from millebornes_env.files import write_json_atomically, write_text_atomically

ROOT: Final = Path(__file__).parents[2]
PAGE: Final = ROOT / "docs" / "python_versions.md"
RESULTS: Final = ROOT / "results" / "python_versions"
PROJECT: Final = "millebornes-env"
SHOWN: Final = ("numpy", "numba", "gymnasium", "pettingzoo", "scipy", "pyarrow", "torch", "stable-baselines3")
"""Libraries whose versions the page tells."""

TOOLS: Final = ("pytest", "pytest-xdist", "hypothesis", "pandas", "polars")
"""Of the extra `dev`: what the tests need besides the package."""

TESTS: Final = (
    *("rules", "engine", "golden", "notation", "envs", "single_agent", "text", "recording"),
    *("agents/test_compiled.py", "agents/test_policy.py", "agents/test_protocol.py", "arena/test_match.py"),
    *("wielerspel/test_faces.py", "wielerspel/test_auction.py", "wielerspel/test_oracle_agrees.py"),
    "compile/test_machine_code.py",
)
"""What is run after `every_face.py`: tests of each part of the package, some minutes of one core."""

NEED_MORE: Final = (
    *("envs/test_sb3.py", "envs/test_sb3_faults.py", "envs/test_shared_wins.py"),  # PyTorch
    *("notation/test_game_records.py", "envs/test_processes.py"),  # the checkout
    "notation/test_positions.py::test_overridden_rules_and_sheets_of_ones_own",  # its sheets, as files
)
"""What among `TESTS` needs what the wheel has not."""

TESTS_OF_TRAINING: Final = (
    *(
        "train/test_ppo.py",
        "train/test_selfplay.py",
        "train/test_maskable_ppo.py",
        "train/test_cleanrl_ppo.py",
    ),
    *("envs/test_sb3.py", "envs/test_sb3_faults.py", "agents/test_policy_files.py"),
)
"""What is run in the checkout: the training scripts are no part of the wheel."""


class VersionsError(MilleBornesError):
    """A run that cannot be made; the message says why."""


@dataclass(frozen=True)
class Run:
    """One environment.

    Attributes:
        python: its version.
        extras: what is installed besides the dependencies.
        is_lowest: whether with the lowest versions that the ranges admit; else with the newest.
        in_checkout: whether the tests of training run, in the checkout.
    """

    python: str
    extras: tuple[str, ...] = ("arena", "data")
    is_lowest: bool = False
    in_checkout: bool = False


RUNS: Final = {
    "lowest": Run("3.11", is_lowest=True),
    "lowest-train": Run("3.11", ("train",), is_lowest=True, in_checkout=True),
    "3.11": Run("3.11"),
    "3.12": Run("3.12"),
    "3.13": Run("3.13"),
}


@dataclass(frozen=True)
class Args:
    """The options of the command line."""

    runs: tyro.conf.Positional[tuple[str, ...]] = field(default_factory=tuple)
    """which of lowest, lowest-train, 3.11, 3.12, 3.13; all, if none is named"""
    wheel: Path | None = None
    """a wheel of these sources; none: it is built"""
    folder: Path = Path("build/python_versions")
    """where the environments are made"""
    python: tuple[str, ...] = ()
    """interpreters, such as 3.12=/opt/python3.12/bin/python"""
    keep: bool = False
    """use the environments of an earlier run, with the wheel that they have, and the code compiled there"""
    docs: bool = False
    """write docs/python_versions.md from the newest result of every run"""


# Requirements -----------------------------------------------------------------------------------------------


def requirements(project: dict[str, Any], extras: Iterable[str] = ()) -> Iterator[Requirement]:
    """The dependencies of a project and of some of its extras, those that an extra includes among them."""
    listed = list(project["dependencies"])
    for extra in extras:
        listed += project["optional-dependencies"][extra]
    for text in listed:
        one = Requirement(text)
        if one.name == project["name"]:
            yield from requirements({**project, "dependencies": []}, one.extras)
        else:
            yield one


def floor_of(requirement: Requirement) -> str:
    """The lowest version that a requirement admits.

    Raises:
        VersionsError: it has no lower bound.
    """
    floors = [part.version for part in requirement.specifier if part.operator in {">=", "==", "~="}]
    if not floors:
        raise VersionsError(f"{requirement} has no lower bound: state the lowest version that was tried")
    return floors[0]


def lowest(project: dict[str, Any], extras: Iterable[str]) -> list[str]:
    """Constraints for pip: the lowest versions that are admitted of what is installed, and of the tools."""
    tools = [one for one in requirements(project, ["dev"]) if one.name in TOOLS]
    floors = {one.name: floor_of(one) for one in (*requirements(project, extras), *tools)}
    return [f"{name}=={version}" for name, version in floors.items()]


# Interpreters -----------------------------------------------------------------------------------------------


def interpreter(version: str, named: Sequence[str] = ()) -> Path:
    """An interpreter of that version.

    Args:
        version: such as "3.12".
        named: "3.12=/path/of/python", as the user gave them.

    Raises:
        VersionsError: none is found, or what was named is none.
    """
    given = [Path(text.partition("=")[2]) for text in named if text.partition("=")[0] == version]
    for candidate in given or _candidates(version):
        if _version_of(candidate) == version:
            return candidate
        if given:
            raise VersionsError(f"{shown(str(candidate))} is no Python {version}")
    raise VersionsError(
        f"no Python {version} is found on the path, nor among those of pyenv and uv: install it, or name it "
        f"with --python {version}=/path/of/python"
    )


def _candidates(version: str) -> Iterator[Path]:
    on_path = shutil.which(f"python{version}")
    if on_path:
        yield Path(on_path)
    homes = (
        Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions",
        Path(os.environ.get("UV_PYTHON_INSTALL_DIR", Path.home() / ".local/share/uv/python")),
    )
    for home in homes:
        yield from sorted(home.glob(f"*{version}.*/bin/python{version}"))


def _version_of(python: Path) -> str | None:
    """Which version runs there; None: none does (a shim of pyenv for one that is not active)."""
    say_it = "import sys, venv; print('%d.%d' % sys.version_info[:2])"
    try:
        done = subprocess.run([python, "-c", say_it], capture_output=True, text=True, check=False)
    except OSError:
        return None
    return done.stdout.strip() if done.returncode == 0 else None


# A run ------------------------------------------------------------------------------------------------------


def carry_out_run(name: str, args: Args, wheel: Path) -> dict[str, Any]:
    """Make the environment of a run, run its tests there, and say what they did.

    Raises:
        VersionsError: there is no interpreter, or pip failed.
    """
    run = RUNS[name]
    home = (args.folder / name).absolute()
    python = home / "venv" / "bin" / "python"
    if not (args.keep and python.exists()):
        shutil.rmtree(home, ignore_errors=True)
        home.mkdir(parents=True)
        say(f"{name}: installing into {home} ...")
        _install(run, home, interpreter(run.python, args.python), wheel)
    say(f"{name}: testing ...")
    begun = time.perf_counter()
    if not run.in_checkout:
        _output(python, ROOT / "tests" / "compile" / "every_face.py")
    log = home / "tests.log"
    with log.open("w", encoding="utf-8") as file:
        subprocess.run(
            _test_command(run, python, home),
            cwd=ROOT if run.in_checkout else home,
            env=_environment() | {"NUMBA_CACHE_DIR": str(home / "cache")},
            stdout=file,
            stderr=subprocess.STDOUT,
            check=False,
        )
    summary = _last_line(log.read_text(encoding="utf-8"))
    counted = {what: int(count) for count, what in re.findall(r"(\d+) (\w+)", summary)}
    if "passed" not in counted:
        raise VersionsError(f"the tests of {name} did not run; {log} says why")
    return {
        "run": name,
        "python": _output(python, "-c", "import platform; print(platform.python_version())").strip(),
        "libraries": _versions(python),
        "passed": counted["passed"],
        "failed": counted.get("failed", 0) + counted.get("error", 0) + counted.get("errors", 0),
        "skipped": counted.get("skipped", 0),
        "seconds": round(time.perf_counter() - begun),
    }


def _install(run: Run, home: Path, base: Path, wheel: Path) -> None:
    _output(base, "-m", "venv", home / "venv")
    python = home / "venv" / "bin" / "python"
    what = [f"{PROJECT}[{','.join(run.extras)}] @ {wheel.absolute().as_uri()}", *TOOLS]
    if run.is_lowest:
        constraints = home / "lowest.txt"
        constraints.write_text("\n".join(lowest(_project(), run.extras)) + "\n", encoding="utf-8")
        what += ["--constraint", str(constraints)]
    _output(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *what)
    if run.in_checkout:  # its scripts are imported from there, and so is the package
        _output(python, "-m", "pip", "uninstall", "--quiet", "--yes", PROJECT)


def _test_command(run: Run, python: Path, home: Path) -> list[str]:
    options = ["-q", "-n", "2", "--dist", "loadfile", "-p", "no:cacheprovider"]
    if run.is_lowest:  # old libraries call what newer ones, on which they depend, deprecate
        options += ["-W", "ignore::DeprecationWarning"]
    if run.in_checkout:
        chosen = [f"tests/{name}" for name in TESTS_OF_TRAINING]
    else:
        for folder in ("tests", "agents", "docs"):  # some tests run the examples of the docs
            shutil.rmtree(home / folder, ignore_errors=True)
            shutil.copytree(ROOT / folder, home / folder, ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copy(ROOT / "pyproject.toml", home)
        chosen = [f"tests/{name}" for name in TESTS]
        options += [f"--{'deselect' if '::' in name else 'ignore'}=tests/{name}" for name in NEED_MORE]
    return [str(python), "-m", "pytest", *options, *chosen]


def _environment() -> dict[str, str]:
    hidden = ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "NUMBA_DISABLE_JIT")
    return {name: value for name, value in os.environ.items() if name not in hidden}


def _output(*command: object) -> str:
    done = subprocess.run(
        list(map(str, command)), capture_output=True, text=True, check=False, env=_environment()
    )
    if done.returncode:
        reason = (done.stderr or done.stdout).strip().splitlines()[-5:]
        raise VersionsError(f"{' '.join(map(str, command[:6]))} ... failed: {' '.join(reason)}")
    return done.stdout


def _versions(python: Path) -> dict[str, str]:
    program = (
        "import json; from importlib import metadata as m; "
        "print(json.dumps({one.metadata['Name']: one.version for one in m.distributions()}))"
    )
    found: dict[str, str] = json.loads(_output(python, "-c", program))
    return {name.lower().replace("_", "-"): found[name] for name in sorted(found)}


def _last_line(text: str) -> str:
    return next(reversed(text.strip().splitlines()), "")


def _project() -> dict[str, Any]:
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    project: dict[str, Any] = tomllib.loads(text)["project"]
    return project


def built_wheel(folder: Path) -> Path:
    """A wheel of the checkout, built as `make wheel` does."""
    out = folder / "dist"
    shutil.rmtree(out, ignore_errors=True)
    say("building the wheel ...")
    os.environ.setdefault("PIP_CONSTRAINT", str(ROOT / "constraints.txt"))
    try:
        _output(sys.executable, "-m", "build", "--wheel", "--outdir", out, ROOT)
    finally:
        os.environ.pop("PIP_CONSTRAINT")
    return next(out.glob("*.whl"))


# The page ---------------------------------------------------------------------------------------------------


def page(results: Sequence[dict[str, Any]]) -> str:
    """The results as Markdown."""
    columns = ["run", "Python", *SHOWN, "passed", "failed", "skipped", "seconds"]
    rows = [columns, ["---", "---", *("---" for _ in SHOWN), "--:", "--:", "--:", "--:"]]
    for one in results:
        libraries = [one["libraries"].get(name, "-") for name in SHOWN]
        counts = [f"{one[what]:,}" for what in ("passed", "failed", "skipped", "seconds")]
        rows.append([one["run"], one["python"], *libraries, *counts])
    table = "\n".join(f"| {' | '.join(row)} |" for row in rows)
    missing = [name for name in RUNS if name not in {one["run"] for one in results}]
    return _PAGE.format(table=table, missing=f"\nNot run yet: {', '.join(missing)}.\n" if missing else "")


_PAGE: Final = """# Pythons and libraries

Written by `python -m tests.compile.python_versions --docs` (`make python-versions`); do not edit.

{table}
{missing}
Each run makes an environment of its own and installs the wheel there with pip, with the extras `arena` and
`data`. `lowest` has the lowest version that each range of `pyproject.toml` admits, the other runs the newest
ones that pip finds. The tests are those that need the package but neither the checkout nor PyTorch; they run
where no checkout is, on the machine code of the wheel. `lowest-train` has the lowest versions of the extra
`train`, and runs the tests of training in the checkout. Tests that need a checkout or a missing library are
skipped.

The exact versions of `constraints.txt`, on Python 3.11, are tested by `make test`, with all tests.
"""


def main() -> int:
    """The command line; returns the exit status: 1 if a test failed."""
    return carry_out(lambda: _command(tyro.cli(Args, description=__doc__)))


def _command(args: Args) -> int:
    unknown = [name for name in args.runs if name not in RUNS]
    if unknown:
        raise VersionsError(f"there is no run {shown(unknown[0])}; the runs are: {', '.join(RUNS)}")
    chosen = args.runs or tuple(RUNS)
    for name in chosen:
        interpreter(RUNS[name].python, args.python)  # before any work: say which is missing
    there = all((args.folder / name / "venv").is_dir() for name in chosen)
    wheel = args.wheel or (Path() if args.keep and there else built_wheel(args.folder))
    failed = 0
    for name in chosen:
        result = carry_out_run(name, args, wheel)
        RESULTS.mkdir(parents=True, exist_ok=True)
        write_json_atomically(RESULTS / f"{name}.json", result)
        print(
            f"{name}: {result['passed']} passed, {result['failed']} failed, {result['seconds']} s", flush=True
        )
        failed += result["failed"]
    if args.docs:
        files = [RESULTS / f"{name}.json" for name in RUNS]
        results = [json.loads(file.read_text(encoding="utf-8")) for file in files if file.is_file()]
        write_text_atomically(PAGE, page(results))
        print(f"wrote {PAGE.relative_to(ROOT)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
