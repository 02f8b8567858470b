"""Run a training script of the repository.

    millebornes train                 # lists the scripts
    millebornes train selfplay --run-dir runs/first --minutes 5

This runs `python -m train.selfplay ...` from any folder. The wheel contains no training scripts.
"""

from __future__ import annotations

import ast
import importlib
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from millebornes_env._util.command_line import print_error, program, run_command, sentence
from millebornes_env.errors import MissingExtraError, OptionError, shown

PACKAGE: Final = "train"
EXTRA: Final = "train"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line (None: the arguments of the process), and return the exit code."""
    given = sys.argv[1:] if arguments is None else list(arguments)
    root = Path(__file__).parents[2]
    if not given or given[0] in {"-h", "--help"}:
        return run_command(lambda: print(overview(scripts_of(root))))
    try:
        scripts = scripts_of(root)
        if given[0] not in scripts:
            raise OptionError(
                f"there is no training script {shown(given[0])}; the scripts are: {', '.join(scripts)}"
            )
    except OptionError as error:
        return print_error(sentence(error))
    return run(root, given[0], given[1:])


def scripts_of(root: Path) -> dict[str, str]:
    """Return the training scripts of a checkout with their descriptions; raise OptionError without one."""
    folder = root / PACKAGE
    if not (folder / "selfplay.py").is_file() or not (root / "pyproject.toml").is_file():
        raise OptionError(
            "the command train runs training scripts, which are not part of the installed package: in a "
            f"checkout of the repository, pip install -e '.[{EXTRA}]', then {program()} train"
        )
    scripts = {file.stem: file for file in sorted(folder.glob("*.py"))}
    scripts |= {f"tools.{file.stem}": file for file in sorted((folder / "tools").glob("*.py"))}
    documented = {name: file.read_text(encoding="utf-8") for name, file in scripts.items()}
    return {name: _first_line(text) for name, text in documented.items() if "\ndef main(" in text}


def overview(scripts: dict[str, str]) -> str:
    """Return the usage with the list of scripts."""
    width = max(map(len, scripts))
    lines = [f"  {name:{width}}  {what}" for name, what in scripts.items()]
    usage = f"usage: {program()} train SCRIPT [option ...]; options: {program()} train SCRIPT --help"
    return "\n".join([usage, "", *lines])


def run(root: Path, script: str, arguments: Sequence[str]) -> int:
    """Run a script as `python -m train.SCRIPT` would, and return its exit code."""
    if sys.path[:1] != [str(root)]:  # another package may be called `train`
        sys.path.insert(0, str(root))
    sys.argv = [str(root / PACKAGE / f"{script.replace('.', '/')}.py"), *arguments]
    try:
        module = importlib.import_module(f"{PACKAGE}.{script}")
    except ModuleNotFoundError as error:
        if str(error.name).partition(".")[0] in {PACKAGE, "millebornes_env"}:
            raise
        return print_error(sentence(MissingExtraError.of(f"train {script}", error, EXTRA)))
    return int(module.main())


def _first_line(source: str) -> str:
    documented = ast.get_docstring(ast.parse(source)) or ""
    return documented.partition("\n")[0]
