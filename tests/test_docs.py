"""Documents: generated pages are current, links hold, examples and commands run, figures are as measured."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import io
import json
import os
import re
import shlex
import subprocess
import sys
import tomllib
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from docs.site.animation import animated, positions
from millebornes_env import agents
from millebornes_env.agents import registry
from tests.pages import examples_of, section_of
from tests.patience import SECONDS_OF_A_HANG

ROOT = Path(__file__).parent.parent
MODEL_CARDS = [
    *(ROOT / "millebornes_env" / "agents" / "champions").glob("*/README.md"),
    ROOT / "millebornes_env" / "solving" / "equilibrium" / "README.md",
]
FOLDERS = ("", "start", "rules", "environment", "agents", "research")
DOCS = [page for folder in FOLDERS for page in sorted((ROOT / "docs" / folder).glob("*.md"))]
NOTES = sorted((ROOT / "research" / "notes").glob("*.md"))
DOCUMENTS = [*sorted(ROOT.glob("*.md")), *DOCS, *NOTES, ROOT / "agents" / "README.md", *MODEL_CARDS]
SHEETS = ROOT / "millebornes_env" / "games" / "millebornes" / "sheets"
README_LINES, README_WORDS, README_COLUMNS = 110, 900, 80
COMMAND_PAGES = ("README.md", "docs/index.md")
NEEDS_DATA = pytest.mark.skipif(
    any(importlib.util.find_spec(name) is None for name in ("pyarrow", "pandas", "polars")),
    reason="what reads recorded data is not installed",
)

# What a test adds to a command so that it ends soon and leaves the checkout alone.
SHORTER = {
    "benchmarks.throughput": "--seconds 0.001 --repeats 1 --no-others --no-cold --out throughput",
    "arena": "--deals 2 --out arena",
    "play": "--terminal",
    "research.all": "--help",  # it takes two minutes; tests/research measures
}


def text_of(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def blocks_of(name: str) -> list[str]:
    """Return the fenced blocks of a document."""
    return re.findall(r"```\w*\n(.*?)```", text_of(name), flags=re.DOTALL)


def commands_of(name: str) -> list[str]:
    """The commands of a document, in blocks and between backticks, without comments."""
    lines = [line for block in blocks_of(name) for line in block.splitlines()]
    inline = re.findall(r"`([^`\n]+)`", re.sub(r"```.*?```", "", text_of(name), flags=re.DOTALL))
    result = [line.split("  #")[0].strip() for line in [*lines, *inline]]
    return list(dict.fromkeys(line for line in result if re.match(r"(make|pip|python) ", line)))


def commands_that_begin_with(word: str) -> list[str]:
    """The commands of the README and of the index of the docs."""
    commands = [command for page in COMMAND_PAGES for command in commands_of(page)]
    return [command for command in dict.fromkeys(commands) if command.startswith(word)]


def generator() -> object:
    spec = importlib.util.spec_from_file_location("docs_generate", ROOT / "docs" / "generate.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_generated_pages_are_current() -> None:
    pages = generator().PAGES  # type: ignore[attr-defined]
    assert pages
    for name, page in pages.items():
        text = (ROOT / "docs" / name).read_text(encoding="utf-8")
        assert text == page(), f"docs/{name} is out of date: run python docs/generate.py"


@pytest.mark.parametrize(
    "name",
    [
        "README.md",
        "docs/start/play.md#Pictures of a table",
        "docs/start/play.md#Language models as players",
        "docs/rules/race.md",
        "docs/environment/environments.md#The vector environment",
        "docs/environment/environments.md#Gymnasium: one learner against agents",
        pytest.param("docs/environment/records.md#Recorded games as data", marks=NEEDS_DATA),
        "docs/environment/extend.md#Add an edition",
        "docs/environment/extend.md#Testing your own",
        "docs/agents/agents.md",
        "docs/agents/arena.md",
        "docs/agents/training.md",
        "docs/research/hidden_information.md",
        "docs/research/protocol.md",
        "docs/research/variants.md",
    ],
)
def test_the_examples_run(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """One after the other, as a reader would type them; where output stands below them, it is theirs."""
    monkeypatch.setattr(registry, "AGENTS", dict(agents.AGENTS))  # an example adds one
    monkeypatch.chdir(tmp_path)
    parker = (SHEETS / "parker.toml").read_text(encoding="utf-8")
    Path("my_rules.toml").write_text(parker.replace('name = "parker"', 'name = "my_rules"'), encoding="utf-8")
    page, _, heading = name.partition("#")
    examples = examples_of(section_of(page, heading))
    assert examples
    names: dict[str, object] = {}
    for example, output in examples:
        exec(compile(example, name, "exec"), names)
        printed = capsys.readouterr().out
        assert not output or printed == output


def test_the_readme_is_read_in_a_minute() -> None:
    lines = text_of("README.md").splitlines()
    assert len(lines) <= README_LINES
    assert sum(len(line.split()) for line in lines) <= README_WORDS
    assert max(map(len, lines)) <= README_COLUMNS


@pytest.mark.parametrize("command", commands_that_begin_with("python "))
def test_the_commands_of_the_readme_run(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """As they stand there, but shorter; who plays quits at once."""
    _python, dash_m, module, *arguments = shlex.split(command)
    assert dash_m == "-m"
    is_ours = module == "millebornes_env"
    name = f"{module}.__main__" if is_ours else module
    asked = arguments[0] if is_ours else module
    more = SHORTER.get(asked, "").split()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", [command, *arguments, *more])
    monkeypatch.setattr(sys, "stdin", io.StringIO("q\n"))
    try:
        code = importlib.import_module(name).main()
    except SystemExit as done:
        code = done.code
    assert code in {None, 0}, capsys.readouterr().err
    assert capsys.readouterr().out


@pytest.mark.parametrize("command", commands_that_begin_with("make "))
def test_the_readme_names_targets_that_make_knows(command: str) -> None:
    """These tests run what the targets do; here make only has to find all prerequisites."""
    surroundings = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    done = subprocess.run(
        [*shlex.split(command), "--dry-run"],
        cwd=ROOT,
        env=surroundings,
        capture_output=True,
        text=True,
        check=False,
        timeout=SECONDS_OF_A_HANG,
    )
    assert done.returncode == 0, done.stderr
    assert "-m " in done.stdout


@pytest.mark.parametrize("command", commands_that_begin_with("pip "))
def test_the_readme_installs_the_checkout_with_extras_that_there_are(command: str) -> None:
    """`make test-wheel` builds and installs it."""
    pip, install, target = shlex.split(command)
    assert (pip, install) == ("pip", "install")
    name, _, extra = target.partition("[")
    project = tomllib.loads(text_of("pyproject.toml"))["project"]
    assert name == "."
    assert not extra or extra.removesuffix("]") in project["optional-dependencies"]


def test_the_figures_are_those_of_the_benchmarks() -> None:
    """Steps per second, in the README and on the page of all figures."""
    measured = json.loads(text_of("docs/benchmarks/throughput.json"))
    rates = {
        (row["name"], row["batch"]): row.get("agent_steps_per_second") for row in measured["measurements"]
    }
    one, two = (rates[f"vector env, {threads}", 4096] / 1e6 for threads in ("1 thread", "2 threads"))
    assert f"**{two:.1f} million steps per second**" in text_of("README.md")
    assert f"({one:.1f} million on one)" in text_of("README.md")
    page = text_of("docs/environment/environments.md")
    assert f"| 4,096 | {one:.1f} M | {two:.1f} M |" in page
    for label, figure in measured["environment"]["figures"].items():
        assert f"{label}: {figure:.2f}\n" in page or f"{label}: {figure:,.0f}\n" in page


def test_the_readme_says_what_make_train_printed() -> None:
    (row,) = re.findall(r"runs/first │ greedy .*", text_of("docs/agents/training.md"))[:1]
    found = re.search(r"(\d+\.\d) ±", row)
    assert found is not None
    assert f"beat `greedy` in {float(found[1]):.0f} % of matches" in text_of("README.md")


def test_the_picture_of_the_readme_is_small_and_moves() -> None:
    picture = (ROOT / "docs" / "images" / "round.svg").read_text(encoding="utf-8")
    assert len(picture.encode()) < 300_000
    assert "<script" not in picture
    assert "prefers-color-scheme: dark" in picture  # on light and dark backgrounds
    states, rules = positions(seed=0)
    made = animated(states[:6], rules).decode()
    assert ET.fromstring(made).tag.endswith("svg")
    assert 4 < made.count("@keyframes") < picture.count("@keyframes")


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(document: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", document.read_text(encoding="utf-8")):
        if "://" not in target and not target.startswith("mailto:"):
            assert (document.parent / target).exists(), f"{document.relative_to(ROOT)} links to {target}"


def test_every_agent_and_option_is_in_the_list_of_agents() -> None:
    text = (ROOT / "docs" / "agents" / "agents.md").read_text(encoding="utf-8")
    for name, make in agents.AGENTS.items():
        assert f"| `{name}` |" in text
        for option in inspect.signature(make).parameters:
            assert option in {"table", "seed"} or f"`{option}`" in text, f"{name} has the option {option}"


def test_the_first_change_is_still_there_to_make() -> None:
    """The line that CONTRIBUTING has a newcomer replace, and the test that then fails."""
    page = text_of("CONTRIBUTING.md")
    line, name = "return not is_limited(state, team)", "test_no_speed_limit_on_a_speed_limit"
    assert f"`{line}`" in page
    assert text_of("millebornes_env/games/millebornes/hazards.py").count(line) == 1
    assert f"`{name}`" in page
    assert f"def {name}()" in text_of("tests/rules/test_hazards.py")


def test_what_aivat_saves_is_as_measured() -> None:
    page = text_of("research/notes/arena.md")
    lines = json.loads(text_of("docs/benchmarks/aivat.json"))["lines"]
    assert len(lines) >= 4
    for line in lines:
        means = [f"{line[name][0]:+.1f} ± {line[name][1]:.1f}" for name in ("plain", "corrected", "luck")]
        cells = (*means, f"{line['streams']:.2f}x", f"{line['saved']:.2f}x")
        assert f"| {line['pair']} | {line['rounds']:,} | {' | '.join(cells)} |" in page
        assert f"| {line['pair']} | {line['saved_time']:.2f}x |" in page
