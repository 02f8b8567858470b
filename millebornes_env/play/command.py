"""Play against agents in the browser or on the terminal.

    python -m millebornes_env play
    python -m millebornes_env play --against arnold --episode match
    python -m millebornes_env play --terminal --against runs/first --edition dujardin --players 4
    python -m millebornes_env play --edition arc_en_ciel --players 4
    python -m millebornes_env play --study results/pilot --participants 20 --games 3

Mille Bornes opens a page in the browser, served to this computer only; Ctrl-C stops it. With `--terminal`,
and for games without a page, you play on the terminal. There you have seat 0, and the agent plays all others,
including your partners; `hint` shows the choice of a strong agent, `undo` takes back your last decision, and
`?` shows help. With `--study`, the participants of a study play, each with a personal link
(docs/start/play.md).
"""

from __future__ import annotations

import contextlib
import sys
import webbrowser
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, Final, TextIO

import numpy as np

from millebornes_env import agents
from millebornes_env._util.command_line import print_error, run_command
from millebornes_env._util.signals import Stopped, exit_code_of
from millebornes_env._util.texts import named, shortened
from millebornes_env.agents.protocol import Agent, sees_hidden_cards
from millebornes_env.cli.options import TableArgs, parse_options, table_of
from millebornes_env.envs.options import USUAL
from millebornes_env.envs.table_spec import TableSpec
from millebornes_env.envs.vector import VectorEnv
from millebornes_env.errors import MilleBornesError, MissingExtraError, OptionError
from millebornes_env.notation.position import game_of
from millebornes_env.play.terminal.person import QUIT
from millebornes_env.play.terminal.session import Session

_STRONGEST = "champion"
_WEAKEST = "random"
_ON_THE_PAGE: Final = ("edition", "players", "teams", "episode", "seed", "against")
"""Options for the first game on the page."""


@dataclass(kw_only=True)
class _PlayArgs(TableArgs):
    """Options for the game, the opponents and the page."""

    episode: str = USUAL
    """Length of an episode: round, match, or usual for the game's shortest."""
    seed: int | None = None
    """Seed of the deals and of the agents. None: a random seed."""
    against: str | None = None
    """Agent for the other seats: `name:option=value`, the path of a run folder, or `my_file.py:Class`;
    `name@agent` renames it. None: the game's default opponent; for Mille Bornes the champion in the browser,
    if it plays at the table, and the strategist on the terminal."""
    terminal: bool = False
    """Play on the terminal, even if the game has a page in the browser."""
    port: int = 0
    """Port of the page. 0: the default port, or a free one if it is in use."""
    browser: bool = True
    """Open the page in a browser; the address is always printed."""


@dataclass(kw_only=True)
class _StudyArgs:
    """Options for studies; all but `study` require `study`."""

    study: Path | None = None
    """Folder of a study: each participant plays by a personal link, and every decision is saved there. An
    existing study is continued. None: you play yourself."""
    participants: int | None = None
    """Study: number of participants. None: that of the existing study, or enough for one table."""
    games: int | None = None
    """Study: number of rounds (or matches, with --episode match) for each participant. None: 1."""
    seats: tuple[int, ...] | None = None
    """Study: seats of the participants, such as `0 1` for two at each table. None: seat 0."""
    same_deals: bool = False
    """Study: deal the same cards at all tables."""
    anonymous: bool = False
    """Study: show participants `player 1` instead of the agent's name."""
    intro: Path | None = None
    """Study: text file with the introduction that participants read first. None: no text."""
    host: str | None = None
    """Study: address that the server listens on. None: 127.0.0.1, this computer only."""
    address: str | None = None
    """Study: address that participants open, such as https://study.example. None: that of the server."""


@dataclass(kw_only=True)
class Args(_StudyArgs, _PlayArgs):
    """Play Mille Bornes or another game against agents, in the browser or on the terminal."""


def main(
    arguments: Sequence[str] | None = None, source: TextIO | None = None, sink: TextIO | None = None
) -> int:
    """Run the command line.

    Args:
        arguments: arguments without the program's name; None: those of the process.
        source: text input; None: standard input.
        sink: text output; None: standard output.

    Returns:
        The exit code: 0, also after `q`; 2 for invalid arguments or a closed input; 130 after Ctrl-C or the
            end of the input.
    """
    is_input_closed = source is None and sys.stdin is None
    return run_command(lambda: _command(arguments, source, sink, is_input_closed), prints=sink is None)


def _command(
    arguments: Sequence[str] | None, source: TextIO | None, sink: TextIO | None, is_input_closed: bool
) -> int:
    args = parse_options(Args, "play", arguments)
    if args.study is not None:
        return _run_study(args, args.study)
    for field in fields(_StudyArgs):
        if getattr(args, field.name) != field.default:
            name = field.name.replace("_", "-")
            raise OptionError(f"--{name} is an option for studies: also give the folder, as --study DIR")
    specs = [] if args.against is None else [named(args.against)[1]]
    table = replace(table_of(args, specs), episode=args.episode)
    is_on_terminal = args.terminal or source is not None or sink is not None
    has_page = game_of(table.edition).has("play.table")  # a split raises here: it is not one sheet
    if not is_on_terminal and has_page:
        return _in_the_browser(args, table)
    if is_input_closed:
        return print_error("standard input is closed: no answers can be read")
    return _on_the_terminal(args, table, source, sink)


def _in_the_browser(args: Args, table: TableSpec) -> int:
    """Serve the page until Ctrl-C."""
    try:
        from millebornes_env.play.web.server import TableServer  # noqa: PLC0415 - of the extra `arena`
        from millebornes_env.play.web.table import refuse_person  # noqa: PLC0415 - likewise
    except ModuleNotFoundError as error:
        what = "the table in the browser (--terminal plays without it)"
        raise MissingExtraError.of(what, error, "arena") from None

    env = table.env(seed=args.seed)  # invalid options raise here, and not on the page
    if args.against is not None:
        against = agents.load(named(args.against)[1], env, 0)
        refuse_person(against, args.against)
        if sees_hidden_cards(against):
            print(f"note: {args.against} sees hidden cards")
    typed = {name: getattr(args, name) for name in _ON_THE_PAGE}
    shown = {
        **typed,
        "edition": table.edition,
        "players": table.players,
        "teams": env.teams,
        "episode": env.episode,
    }
    has_options = any(value is not None and value != USUAL for value in typed.values())
    kind: Any = env.game.hook("play.table", "play")
    server = TableServer(lambda: kind(shown if has_options else {}), args.port)
    _show_page(server.url, opens=args.browser)
    try:
        server.run()
    except KeyboardInterrupt as stop:
        print("\nThe server has stopped; the browser keeps your game.")
        return exit_code_of(stop)
    return 0


def _show_page(url: str, *, opens: bool) -> None:
    """Print the address of the page, and open it."""
    print(f"The table is at {url} (Ctrl-C ends it; --terminal plays here).", flush=True)
    if not opens:
        return
    try:
        is_open = webbrowser.open(url)
    except (webbrowser.Error, OSError):
        is_open = False
    if not is_open:
        print("No browser could be opened: open that address in a browser on this computer.", flush=True)


def _on_the_terminal(args: Args, table: TableSpec, source: TextIO | None, sink: TextIO | None) -> int:
    seed = args.seed if args.seed is not None else int(np.random.default_rng().integers(2**32))
    env = table.env()
    env.reset(seed=seed)
    name, spec = named(env.game.rival if args.against is None else args.against)
    opponent = agents.load(spec, env, seed)
    name = shortened(opponent.name if name == spec else name)
    kind: Any = env.game.find_hook("play.session") or Session
    session = kind(env, opponent, name)
    person = session.person
    person.source, person.sink = source, sink
    person.adviser = lambda: adviser(env, seed)
    if sees_hidden_cards(opponent):
        person.say(f"note: {name} sees hidden cards")
    try:
        session.play()
    except Stopped:
        raise
    except KeyboardInterrupt as stop:  # QUIT or the end of the input, after a goodbye
        return 0 if stop.args == (QUIT,) else exit_code_of(stop)
    return 0


def adviser(env: VectorEnv, seed: int) -> Agent | None:
    """Return the agent for hints: the champion, else the default opponent, or None if that is `random`."""
    try:
        return agents.load(_STRONGEST, env, seed)
    except MilleBornesError:
        rival = env.game.rival
        return None if rival == _WEAKEST else agents.load(rival, env, seed)


def _run_study(args: Args, folder: Path) -> int:
    """Serve a study until Ctrl-C."""
    if args.terminal:
        raise OptionError("a study is played in the browser: leave out --terminal")
    try:
        from millebornes_env.play.study import design, server, serving  # noqa: PLC0415 - of the extra `study`
        from millebornes_env.play.web.server import listening  # noqa: PLC0415 - likewise
    except ModuleNotFoundError as error:
        raise MissingExtraError.of("play --study", error, "study") from None
    given = {
        "edition": args.edition,
        "players": args.players,
        "teams": args.teams,
        "episode": None if args.episode == USUAL else args.episode,
        "games": args.games,
        "seats": None if args.seats is None else tuple(sorted(args.seats)),  # the order of the design
        "against": args.against,
        "same_deals": args.same_deals or None,
        "anonymous": args.anonymous or None,
        "intro": None if args.intro is None else design.intro_of(args.intro),
    }
    given = {name: value for name, value in given.items() if value is not None}
    host = args.host or "127.0.0.1"
    with serving.locked(folder), listening(host, args.port) as taken:
        addresses = serving.addresses_of(host, taken.getsockname()[1], args.address)
        study = design.open_study(folder, given, args.participants, args.seed, serving.warm_up)
        links = study.write_links(f"{addresses[0]}/")
        print(f"The study of {len(study.participants)} participants is at {addresses[0]}/ (Ctrl-C ends it).")
        print(f"The links are in {links}; decisions are saved in {folder / design.SESSIONS}.", flush=True)
        try:
            with contextlib.closing(server.StudyServer(study, addresses)) as answers:
                serving.server_of(answers).run(sockets=[taken])
        except KeyboardInterrupt as stop:
            print("\nThe server of the study has stopped; the same command continues the study.")
            return exit_code_of(stop)
    return 0
