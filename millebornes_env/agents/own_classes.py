"""Agents of your own, specified by file or module and class: `my_file.py:Cautious` or `module:Cautious`."""

from __future__ import annotations

import ast
import hashlib
import importlib
import importlib.util
import inspect
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from millebornes_env._util.texts import closest, shortened
from millebornes_env.agents.options import defaults_of, signature_of
from millebornes_env.agents.protocol import Agent, Table
from millebornes_env.agents.specs import ClassName, is_file
from millebornes_env.errors import AgentError, MilleBornesError, shown

HOW_TO_NAME: Final = "a class of your own (my_file.py:Class or module:Class)"
"""Noun for such a spec in messages."""

_MUST_TAKE: Final = "an agent's class is called with a table and a seed: def __init__(self, table, seed=0)"


def find_class(named: ClassName) -> Callable[..., Agent] | None:
    """Import a file or module, and return its class of the given name; None if the module does not exist.

    Raises:
        AgentError: the file or class is missing, the import fails, or the class is not an agent.
    """
    module = module_of_file(named.source) if named.is_file else _module(named.source)
    if module is None:
        return None
    if not named.name:
        raise AgentError(f"{shown(named.source)} names no class: {_agents_of(module, named)}")
    result = getattr(module, named.name, None)
    if result is None:
        raise AgentError(
            f"{shown(named.source)} has no class {shown(named.name)}: {_agents_of(module, named)}"
            f"{closest(named.name, _names_of_agents(module))}"
        )
    if not _is_agent(result):
        what = "has no method act" if inspect.isclass(result) else "is not a class"
        raise AgentError(
            f"{shown(named.name)} in {shown(named.source)} is not an agent: it {what}; an agent is a class "
            "with a method act(observations, action_masks)"
        )
    maker: Callable[..., Agent] = result
    return maker


def make_own(
    spec: str, maker: Callable[..., Agent], table: Table, seed: int, options: dict[str, Any]
) -> Agent:
    """Make an agent of a user's class, named by `spec` in messages.

    Raises:
        AgentError: the class does not take a table, a seed and these options, or raises.
    """
    try:
        signature_of(maker).bind(table, seed, **options)
    except (TypeError, ValueError) as error:
        known = ", ".join(defaults_of(maker)) or "none"
        raise AgentError(f"{shown(spec)}: {error}; {_MUST_TAKE}; its options are {known}") from None
    try:
        return maker(table, seed, **options)
    except MilleBornesError:
        raise
    except Exception as error:
        file = inspect.getsourcefile(maker) if inspect.isclass(maker) else None
        raise AgentError(f"{shown(spec)} could not be made: {_reason(error, file)}") from error


def sources_of_class(module_name: str) -> frozenset[Path]:
    """Return the file of a module, and the files beside it that it imports, directly or indirectly."""
    own = getattr(sys.modules.get(module_name), "__file__", None)
    if own is None:
        return frozenset()
    result: set[Path] = set()
    waiting = [Path(own)]
    while waiting:
        file = waiting.pop()
        if file not in result and file.suffix == ".py" and file.is_file():
            result.add(file)
            names = _imported_by(file)
            waiting += [file.parent / f"{name}.py" for name in names]
            waiting += [file.parent / name / "__init__.py" for name in names]
    return frozenset(result)


def _imported_by(file: Path) -> set[str]:
    """Return the first parts of the names that a file imports."""
    names: set[str] = set()
    try:
        tree = ast.parse(file.read_text(encoding="utf-8", errors="replace"))
    except (SyntaxError, ValueError):  # an optional import, perhaps of a broken file
        return names
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            names |= {node.module} if node.module else {alias.name for alias in node.names}
        elif isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
    return {name.partition(".")[0] for name in names}


def module_of_file(source: str) -> ModuleType:
    """Import a file, once per process; it can import the files next to it.

    Raises:
        AgentError: the file does not exist, or the import fails.
    """
    if not is_file(source):
        folder = Path(source).parent
        others = [str(file.relative_to(folder)) for file in folder.glob("*.py")] if folder.is_dir() else []
        raise AgentError(f"there is no file {shown(source)}.{closest(Path(source).name, others)}")
    path = Path(source).resolve()
    digest = hashlib.sha256(str(path).encode("utf-8", "surrogateescape")).hexdigest()[:8]
    # Named after its path: files with equal names are different modules, also in Numba's cache.
    name = f"{path.stem}_{digest}"
    if name in sys.modules:
        return sys.modules[name]
    if str(path.parent) not in sys.path:
        sys.path.append(str(path.parent))
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        del sys.modules[name]
        raise _not_imported(source, error, str(path)) from error
    except BaseException:
        del sys.modules[name]
        raise
    return module


def _module(name: str) -> ModuleType | None:
    try:
        return importlib.import_module(name)
    except (Exception, SystemExit) as error:
        missing = error.name if isinstance(error, ModuleNotFoundError) else None
        if missing is not None and f"{name}.".startswith(f"{missing}."):
            return None
        raise _not_imported(name, error, None) from error


def _not_imported(source: str, error: BaseException, file: str | None) -> AgentError:
    return AgentError(f"{shown(source)} could not be imported: {_reason(error, file)}")


def _reason(error: BaseException, file: str | None) -> str:
    """Describe an error in user code, with its line in the file."""
    text = f"{type(error).__name__}: {shortened(' '.join(str(error).split()))}".removesuffix(": ")
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == file]
    return f"{text} (line {lines[-1]})" if lines else text


def _agents_of(module: ModuleType, named: ClassName) -> str:
    names = _names_of_agents(module)
    if not names:
        return "it contains no agent; an agent is a class with a method act"
    return "its agents are " + ", ".join(f"{named.source}:{name}" for name in names) + "."


def _names_of_agents(module: ModuleType) -> list[str]:
    own = {name: value for name, value in vars(module).items() if _is_agent(value)}
    return [name for name, value in own.items() if value.__module__ == module.__name__]


def _is_agent(value: object) -> bool:
    return inspect.isclass(value) and callable(getattr(value, "act", None))
