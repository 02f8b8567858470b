"""Play against agents: at a table in the browser, or on the terminal.

    python -m millebornes_env play
    python -m millebornes_env play --against arnold --episode match
    python -m millebornes_env play --terminal --against runs/first --edition dujardin --players 4
    python -m millebornes_env play --edition arc_en_ciel --players 4
    python -m millebornes_env play --study results/pilot --participants 20 --games 3

Mille Bornes opens a page in the browser, served to this computer only; Ctrl-C ends it. With `--terminal`, and
in games that have no page, you play on the terminal. You have seat 0 there, and the agent plays all the
others, your partners too; `hint` asks a strong agent what it would do, `undo` takes your last decision back,
`?` tells the rest. With `--study`, other people play, each by a link of their own (docs/studies.md).
"""

from __future__ import annotations

import sys
import webbrowser
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, TextIO

import numpy as np

from millebornes_env import agents
from millebornes_env._util.command_line import complain, run_command
from millebornes_env._util.signals import Stopped, exit_code_of
from millebornes_env._util.texts import named, shortened
from millebornes_env.agents.protocol import Agent, sees_hidden_cards
from millebornes_env.cli.options import TableArgs, parse_options, table_asked_for
from millebornes_env.envs.options import USUAL
from millebornes_env.envs.vector import VectorEnv, vector_env
from millebornes_env.errors import MilleBornesError, MissingExtraError
from millebornes_env.notation.position import game_of
from millebornes_env.play.studies import StudyArgs, check_only_for_studies, run_study
from millebornes_env.play.terminal.session import Session

_STRONGEST = "champion"
_WEAKEST = "random"
_ON_THE_PAGE: Final = ("edition", "players", "teams", "episode", "seed", "against")
"""Options that the page proposes for the first game."""


@dataclass(kw_only=True)
class _PlayArgs(TableArgs):
    """What is played, against whom and where."""

    episode: str = USUAL
    """Play whole matches, or single rounds. usual: the shortest that the game has, such as round."""
    seed: int | None = None
    """Seed of the deals and of the agents. None: other cards, or dice, every time."""
    against: str | None = None
    """Who plays the other seats: `name:option=value`, the path of a run folder, or `my_file.py:Class`;
    `name@agent` calls an agent otherwise. None: who usually does in the game; in Mille Bornes the champion in
    the browser, where it plays at the table, and the strategist on the terminal."""
    terminal: bool = False
    """Play on the terminal, though the game has a page for the browser."""
    port: int = 0
    """Of the page. 0: the usual one, or if it is taken, a free one."""
    browser: bool = True
    """Open the page in a browser; if not, its address is printed all the same."""


@dataclass(kw_only=True)
class Args(StudyArgs, _PlayArgs):
    """Play Mille Bornes, or another game, against agents: in the browser, or on the terminal."""


def main(
    arguments: Sequence[str] | None = None, source: TextIO | None = None, sink: TextIO | None = None
) -> int:
    """Run the command line.

    Args:
        arguments: without the program's name; None for those of the process.
        source: where the answers come from; None: the standard input.
        sink: where the table is shown; None: the standard output.

    Returns:
        The exit code: 0; 2 if the arguments make no sense or nobody can answer; 130 if you stopped.
    """
    nobody_answers = source is None and sys.stdin is None
    return run_command(lambda: _command(arguments, source, sink, nobody_answers), prints=sink is None)


def _command(
    arguments: Sequence[str] | None, source: TextIO | None, sink: TextIO | None, nobody_answers: bool
) -> int:
    args = parse_options(Args, "play", arguments)
    if args.study is not None:
        return run_study(args)
    check_only_for_studies(args)
    table = table_asked_for(args, [] if args.against is None else [named(args.against)[1]])
    is_on_terminal = args.terminal or source is not None or sink is not None
    if not is_on_terminal and game_of(table[0]).has("play.table"):
        return _in_the_browser(args, *table)
    if nobody_answers:
        return complain("standard input is closed: nobody can answer")
    return _on_the_terminal(args, table, source, sink)


def _in_the_browser(args: Args, edition: str, players: int, teams: int | None) -> int:
    """Serve the page until Ctrl-C."""
    try:
        from millebornes_env.play.web.server import TableServer  # noqa: PLC0415 - of the extra `study`
    except ModuleNotFoundError as error:
        what = "the table in the browser (--terminal plays without it)"
        raise MissingExtraError.of(what, error, "study") from None

    # Whatever the page could not play is refused here already, where it was typed.
    env = vector_env(1, edition, players=players, teams=teams, episode=args.episode, seed=args.seed)
    if args.against is not None and sees_hidden_cards(agents.load(named(args.against)[1], env, 0)):
        print(f"note: {args.against} sees hidden cards")
    typed = {name: getattr(args, name) for name in _ON_THE_PAGE}
    shown = typed | {"edition": edition, "players": players, "teams": env.teams, "episode": env.episode}
    is_asked = any(value is not None and value != USUAL for value in typed.values())
    kind: Any = env.game.hook("play.table", "play")
    server = TableServer(lambda: kind(shown if is_asked else {}), args.port)
    _show_page(server.url, opens=args.browser)
    try:
        server.run()
    except KeyboardInterrupt as stop:
        print("\nThe server has stopped; the browser keeps your game.")
        return exit_code_of(stop)
    return 0


def _show_page(url: str, *, opens: bool) -> None:
    """Say where the page is, and open it."""
    print(f"The table is at {url} (Ctrl-C ends it; --terminal plays here).", flush=True)
    if not opens:
        return
    try:
        is_open = webbrowser.open(url)
    except (webbrowser.Error, OSError):
        is_open = False
    if not is_open:
        print("No browser could be opened: open that address in one, on this computer.", flush=True)


def _on_the_terminal(
    args: Args, table: tuple[str, int, int | None], source: TextIO | None, sink: TextIO | None
) -> int:
    edition, players, teams = table
    seed = args.seed if args.seed is not None else int(np.random.default_rng().integers(2**32))
    env = vector_env(
        1,
        edition,
        players=players,
        teams=teams,
        episode=args.episode,
        autoreset_mode="disabled",
    )
    env.reset(seed=seed)
    name, spec = named(env.game.rival if args.against is None else args.against)
    opponent = agents.load(spec, env, seed)
    name = shortened(opponent.name if name == spec else name)
    kind: Any = env.game.hook("play.session", "play") if env.game.has("play.session") else Session
    person = kind.person_for(env)
    person.source, person.sink = source, sink
    person.adviser = lambda: adviser(env, seed)
    if sees_hidden_cards(opponent):
        person.say(f"note: {name} sees hidden cards")
    try:
        kind(env, person, opponent, name).play()
    except Stopped:
        raise
    except KeyboardInterrupt as stop:  # "q" or the end of the input: the person was told goodbye
        return exit_code_of(stop)
    return 0


def adviser(env: VectorEnv, seed: int) -> Agent | None:
    """Who is asked for hints: the champion, or the usual opponent where there is none for the table.

    None: the game has nobody but who plays at random.
    """
    try:
        return agents.load(_STRONGEST, env, seed)
    except MilleBornesError:
        rival = env.game.rival
        return None if rival == _WEAKEST else agents.load(rival, env, seed)
