"""An agent of one's own is named by its file or module, and what is wrong with it is told in a sentence."""

from __future__ import annotations

import json
import re
import shlex
import sys
from pathlib import Path

import numpy as np
import pytest

from millebornes_env import VectorEnv, agents, vector_env
from millebornes_env.agents import load
from millebornes_env.agents.fingerprint import fingerprint
from millebornes_env.agents.search.agent import SearchAgent
from millebornes_env.agents.specs import ClassName, is_path, split_class
from millebornes_env.arena.match import MatchConfig
from millebornes_env.arena.match import play as play_lineup
from millebornes_env.cli.arena import main as arena
from millebornes_env.cli.evaluate import main as evaluate
from millebornes_env.cli.evaluate import run_folder
from millebornes_env.errors import AgentError, MilleBornesError

ROOT = Path(__file__).parent.parent.parent
PAGE = (ROOT / "docs" / "agents" / "agents.md").read_text(encoding="utf-8")
EXAMPLE = (ROOT / "agents" / "cautious.py").read_text(encoding="utf-8")

FIRST = """
class First:
    name = "first"

    def __init__(self, table, seed=0, bold: bool = False, pile: int = 3):
        self.table, self.seed, self.bold, self.pile = table, seed, bold, pile

    def act(self, observations, action_masks):
        return action_masks.argmax(axis=1)
"""


@pytest.fixture
def env() -> VectorEnv:
    return vector_env(1)


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every test in a folder of its own, from which modules can be imported as from a shell's."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])


def written(name: str, text: str = FIRST) -> str:
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return name


@pytest.mark.parametrize(
    "name", ["mine.py", "a,b/mine.py", "a=1,b/été x.py", "a:b/mine.py", "x.py:y/mine.py", "a+search/b;c+d.py"]
)
def test_a_file_may_have_any_name(env: VectorEnv, name: str, tmp_path: Path) -> None:
    written(name)
    for path in (name, f"./{name}", str(tmp_path / name)):
        agent = load(f"{path}:First", env, 7)
        assert (agent.name, agent.seed, agent.bold, agent.pile) == (f"{path}:First", 7, False, 3)  # type: ignore[attr-defined]
        agent = load(f"{path}:First:bold,pile=9", env)
        assert (agent.bold, agent.pile) == (True, 9)  # type: ignore[attr-defined]
        assert run_folder(f"{path}:First") is None
        assert not is_path(f"{path}:First")


def test_a_module_that_python_can_import(env: VectorEnv) -> None:
    written("own_package_one/__init__.py", "")
    written("own_package_one/inner.py")
    written("own_module_one.py")
    for spec in ("own_module_one:First:pile=4", "own_package_one.inner:First:pile=4"):
        assert load(spec, env).pile == 4  # type: ignore[attr-defined]


def test_names_of_agents_and_folders_come_first(env: VectorEnv) -> None:
    written("greedy.py")
    assert load("greedy", env).__class__ is agents.GreedyAgent
    assert split_class("runs/a") is None
    assert split_class("holdr:pile=3") is None
    Path("mine.py:First").mkdir()
    assert split_class("mine.py:First") is None
    assert run_folder("mine.py:First") == Path("mine.py:First")
    assert split_class("other.py:First:a=1") == ClassName("other.py", "First", "a=1", is_file=True)


def test_a_file_may_import_what_lies_beside_it(env: VectorEnv) -> None:
    written("beside/helper_of_mine.py", FIRST)
    written("beside/mine.py", "from helper_of_mine import First\n\nclass Second(First):\n    pass\n")
    assert load("beside/mine.py:Second:pile=8", env).pile == 8  # type: ignore[attr-defined]


def test_two_files_of_one_name_are_two_agents(env: VectorEnv) -> None:
    written("one/mine.py")
    written("two/mine.py", FIRST.replace("pile: int = 3", "pile: int = 5"))
    assert [load(f"{folder}/mine.py:First", env).pile for folder in ("one", "two")] == [3, 5]  # type: ignore[attr-defined]


def test_search_looks_ahead_with_a_compiled_agent_of_ones_own(env: VectorEnv) -> None:
    written(
        "mine.py",
        "from millebornes_env.agents.millebornes.racer import RacerAgent\n\n"
        "class Fast(RacerAgent):\n    pass\n",
    )
    written("plain.py")
    for spec in (
        "mine.py:Fast:near=300,cards=9+search:z=3",
        "search:rollout=mine.py:Fast:near=300+cards=9,z=3",
        "search:z=3,rollout=mine.py:Fast:near=300;cards=9",
    ):
        agent = load(spec, env)
        assert isinstance(agent, SearchAgent)
        assert list(agent.rollout_agent.options[:3]) == [1, 9, 300]
    with pytest.raises(AgentError, match="which is not a compiled agent"):
        load("plain.py:First+search", env)


@pytest.mark.parametrize(
    ("text", "spec", "words"),
    [
        (FIRST, "mime.py:First", r"there is no file 'mime.py'. Did you mean 'mine.py'\?"),
        (FIRST, "mine.py", r"'mine.py' names no class: its agents are mine.py:First"),
        (FIRST, "mine.py:Frist", r"has no class 'Frist': its agents are .* Did you mean 'First'\?"),
        ("x = 3", "mine.py:First", "has no class 'First': it contains no agent"),
        ("class First: pass", "mine.py:First", "is not an agent: it has no method act"),
        (FIRST, "mine.py:First:pole=3", "unknown option 'pole'; the options are bold, pile"),
        ("import no_such", "mine.py:First", r"could not be imported: ModuleNotFoundError: .*\(line 1\)"),
        ("x = (", "mine.py:First", "'mine.py' could not be imported: SyntaxError: .*line 1"),
        (
            FIRST.replace("(self, table, seed=0, bold: bool = False, pile: int = 3)", "(self)"),
            "mine.py:First",
            "too many positional arguments; an agent's class is called with a table and a seed: def __init__",
        ),
        (
            FIRST.replace("self.table,", "raise_this, self.table,").replace("= table,", "= 1 / 0, table,"),
            "mine.py:First",
            r"could not be made: ZeroDivisionError: division by zero \(line 6\)",
        ),
        (FIRST, "arnld:debian", r"there is no agent 'arnld', and no module of that.*Did you mean 'arnold'\?"),
        ("import no_such", "broken_module_one:First", "'broken_module_one' could not be imported: Mod"),
        (FIRST, f"{'a' * 5000}.py:First", "there is no file"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_told_in_a_sentence(env: VectorEnv, text: str, spec: str, words: str) -> None:
    written("mine.py", text)
    written("broken_module_one.py", text)
    with pytest.raises(AgentError, match=words) as refused:
        load(spec, env)
    assert isinstance(refused.value, MilleBornesError)
    assert "\n" not in str(refused.value)
    assert len(str(refused.value)) < 500


def test_a_fingerprint_covers_the_file_and_what_lies_beside_it(env: VectorEnv) -> None:
    digits = []
    for folder, number in (("one", 1), ("two", 1), ("three", 2)):
        written(f"{folder}/helper_{folder}.py", f"{FIRST}\nNUMBER = {number}\n")
        written(f"{folder}/mine.py", f"from helper_{folder} import First\n\nclass Mine(First):\n    pass\n")
        digits.append(fingerprint(load(f"{folder}/mine.py:Mine", env), "mine.py:Mine"))
    assert digits[0] != digits[1]  # other names of what it imports
    written("one/helper_one.py", f"{FIRST}\nNUMBER = 2\n")
    assert fingerprint(load("one/mine.py:Mine", env), "mine.py:Mine") != digits[0]
    written("one/helper_one.py", f"{FIRST}\nNUMBER = 1\n")
    assert fingerprint(load("one/mine.py:Mine", env), "mine.py:Mine") == digits[0]


def test_the_commands_of_the_page_play_the_example(capsys: pytest.CaptureFixture[str]) -> None:
    """The commands in docs/agents/agents.md work in the checkout."""
    section = PAGE[PAGE.index("## Your own") :]
    written("agents/cautious.py", EXAMPLE)
    commands = {
        words[2].replace("millebornes_env", words[3]): words[4 if words[2] == "millebornes_env" else 3 :]
        for words in map(shlex.split, re.findall(r"^python -m .*$", section, re.MULTILINE))
    }
    commands = {name: ["8" if word == "50" else word for word in words] for name, words in commands.items()}
    assert set(commands) == {"arena", "evaluate", "play", "train.exploit"}
    assert arena([*commands["arena"], "--out", "here"]) == 0
    content = json.loads(Path("here/arena.json").read_text(encoding="utf-8"))
    assert content["agents"] == ["agents/cautious.py:Cautious", "eager", "greedy"]
    hazards = [content["behaviour"][name]["hazards"] for name in content["agents"][:2]]
    assert 0.5 < hazards[0] < hazards[1] - 0.5  # what its option is for
    assert evaluate(commands["evaluate"]) == 0
    assert "agents/cautious.py:Cautious" in capsys.readouterr().out
    env = vector_env(1)
    for name in ("play", "train.exploit"):
        agent = load(next(word for word in commands[name] if ".py" in word), env)
        rows, _ = env.reset(seed=1)
        assert agent.act(rows["observation"], rows["action_mask"]).shape == (1,)


def test_the_agent_on_the_page_plays_like_the_example(env: VectorEnv) -> None:
    section = PAGE[PAGE.index("## Your own") :]
    written("page.py", section.partition("```python\n")[2].partition("```")[0])
    written("example.py", EXAMPLE)
    specs = [f"{file}.py:Cautious:patience={km}" for file in ("page", "example") for km in (0, 200)]
    config = MatchConfig(episode="round")
    points = [play_lineup([spec, "greedy"], config, 20).points for spec in specs]
    assert np.array_equal(points[0], points[2])
    assert np.array_equal(points[1], points[3])
    assert not np.array_equal(points[0], points[1])
    with pytest.raises(agents.AgentError, match="patience is -1; it must be from 0 to 1,000"):
        load("example.py:Cautious:patience=-1", env)


def test_the_folder_of_agents_lists_them_all_and_is_no_package() -> None:
    folder = ROOT / "agents"
    text = (folder / "README.md").read_text(encoding="utf-8")
    for name in agents.AGENTS:
        assert f"\n| `{name}` |" in text
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", text):
        assert (folder / target).is_file(), target
    assert re.search(
        r"^python -m millebornes_env arena agents/cautious.py:Cautious greedy", text, re.MULTILINE
    )
    assert not (folder / "__init__.py").exists()
