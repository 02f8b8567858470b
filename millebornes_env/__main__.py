"""The command line: `python -m millebornes_env editions`, and what else needs no code."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from millebornes_env.errors import MilleBornesError
from millebornes_env.millebornes.editions import edition, editions


def show_editions(names: Sequence[str]) -> None:
    """Print the comparison of all editions, or one edition with its sources, or some beside each other."""
    from millebornes_env.render.editions import comparison, description  # noqa: PLC0415 - only where printed

    if len(names) == 1:
        print(description(edition(names[0])))
    else:
        print(comparison(names or None))


def parser() -> argparse.ArgumentParser:
    """What can be asked for."""
    top = argparse.ArgumentParser(prog="python -m millebornes_env", description=__doc__)
    commands = top.add_subparsers(dest="command", required=True)
    one = commands.add_parser(
        "editions", help="print the rule sheets beside each other, or one with its sources"
    )
    one.add_argument(
        "names",
        nargs="*",
        metavar="EDITION",
        help=f"{', '.join(editions())}; with overrides, as parker+max_200=4; or the path of a sheet (.toml)",
    )
    one.set_defaults(run=lambda arguments: show_editions(arguments.names))
    return top


def main(arguments: Sequence[str] | None = None) -> int:
    """Carry out a command line.

    Returns:
        0, or 2 if the command line was wrong (the reason goes to standard error).
    """
    asked = parser().parse_args(arguments)
    try:
        asked.run(asked)
    except MilleBornesError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:  # `| head` has seen enough
        sys.stderr.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
