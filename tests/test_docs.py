"""The pages of docs/ that are made from the code are current, and links between documents hold."""

from __future__ import annotations

import importlib.util
import inspect
import re
from pathlib import Path

import pytest

import agents

ROOT = Path(__file__).parent.parent
DOCUMENTS = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")])


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


def test_the_examples_of_the_readme_run(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """One after the other, as a reader would type them; what the last board prints is what is shown there."""
    monkeypatch.chdir(ROOT)
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    examples = re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL)
    assert len(examples) == 5
    names: dict[str, object] = {}
    for example in examples:
        exec(compile(example, "README.md", "exec"), names)
        printed = capsys.readouterr().out
        if "print(" in example:
            assert f"```\n{printed}```" in text


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_links_lead_somewhere(document: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", document.read_text(encoding="utf-8")):
        if "://" not in target and not target.startswith("mailto:"):
            assert (document.parent / target).exists(), f"{document.name} links to {target}"


def test_every_agent_and_option_is_in_the_list_of_agents() -> None:
    text = (ROOT / "docs" / "agents.md").read_text(encoding="utf-8")
    for name, make in agents.AGENTS.items():
        assert f"| `{name}` |" in text
        for option in inspect.signature(make).parameters:
            assert option in {"table", "seed"} or f"`{option}`" in text, f"{name} has the option {option}"


@pytest.mark.parametrize("name", ["arena.md", "agents.md"])
def test_the_examples_of_a_page_run(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(agents, "AGENTS", dict(agents.AGENTS))  # an example adds one
    text = (ROOT / "docs" / name).read_text(encoding="utf-8")
    examples = re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL)
    assert examples
    names: dict[str, object] = {}
    for example in examples:
        exec(compile(example, f"docs/{name}", "exec"), names)
