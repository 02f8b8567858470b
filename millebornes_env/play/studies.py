"""The options of studies with people, and how one is run: `python -m millebornes_env play --study DIR`."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Protocol

from millebornes_env._util.signals import exit_code_of
from millebornes_env.envs.options import USUAL
from millebornes_env.errors import MissingExtraError, OptionError


@dataclass(kw_only=True)
class StudyArgs:
    """Who takes part in a study, and what is played; all but `study` only together with it."""

    study: Path | None = None
    """Folder of a study with people: each opens a link of their own, and every decision is written down
    there. A folder that holds one goes on with it. None: you play yourself."""
    participants: int | None = None
    """Of a study: how many people take part. None: as many as there are, or those of one table."""
    games: int | None = None
    """Of a study: how many rounds (or matches, with --episode match) each plays. None: 1."""
    seats: tuple[int, ...] | None = None
    """Of a study: the seats that people hold, such as `0 1` for two at one table. None: seat 0."""
    same_deals: bool = False
    """Of a study: give all tables the same cards."""
    anonymous: bool = False
    """Of a study: tell participants `player 1` instead of the agent's name."""
    intro: Path | None = None
    """Of a study: a text file that participants read before they begin. None: nothing."""
    host: str | None = None
    """Of a study: the address that the server listens at. None: 127.0.0.1, this computer only."""
    address: str | None = None
    """Of a study: what participants open, such as https://study.example of a proxy. None: the server's."""


class _AllArgs(Protocol):
    """What a study reads of the options of `play`, its own included."""

    edition: str | None
    players: int | None
    teams: int | None
    episode: str
    seed: int | None
    against: str | None
    port: int
    terminal: bool
    study: Path | None
    participants: int | None
    games: int | None
    seats: tuple[int, ...] | None
    same_deals: bool
    anonymous: bool
    intro: Path | None
    host: str | None
    address: str | None


def check_only_for_studies(args: StudyArgs) -> None:
    """Refuse an option of studies where there is none.

    Raises:
        OptionError: there is one; the message names it.
    """
    for field in fields(StudyArgs):
        if getattr(args, field.name) != field.default:
            name = field.name.replace("_", "-")
            raise OptionError(f"--{name} is of a study: name its folder, too, as --study DIR")


def run_study(args: _AllArgs) -> int:
    """Serve a study until Ctrl-C.

    Raises:
        OptionError: it is to be on the terminal.
        MissingExtraError: a library of the extra is not installed.
        MilleBornesError: the study cannot be; the message says why.
        OSError: its folder cannot be written to.
    """
    if args.terminal:
        raise OptionError("a study is played in the browser: leave --terminal away")
    try:
        from millebornes_env.play.study import design, server, serving  # noqa: PLC0415 - of the extra `study`
        from millebornes_env.play.web.server import listening  # noqa: PLC0415 - likewise
    except ModuleNotFoundError as error:
        raise MissingExtraError.of("play --study", error, "study") from None
    assert args.study is not None
    host = args.host or "127.0.0.1"
    with serving.locked(args.study), listening(host, args.port) as taken:
        addresses = serving.addresses_of(host, taken.getsockname()[1], args.address)
        asked = _asked(args, design.intro_of)
        study = design.open_study(args.study, asked, args.participants, args.seed, serving.warm_up)
        links = study.write_links(f"{addresses[0]}/")
        print(f"The study of {len(study.participants)} participants is at {addresses[0]}/ (Ctrl-C ends it).")
        print(
            f"The link of each is in {links}; what they do is written to {args.study / design.SESSIONS}.",
            flush=True,
        )
        try:
            with contextlib.closing(server.StudyServer(study, addresses)) as answers:
                serving.server_of(answers).run(sockets=[taken])
        except KeyboardInterrupt as stop:
            print("\nThe study is served no more; the same command goes on with it.")
            return exit_code_of(stop)
    return 0


def _asked(args: _AllArgs, read: Any) -> dict[str, Any]:
    """The fields of the design that were asked for; the others are as they are, or usual."""
    given = {
        "edition": args.edition,
        "players": args.players,
        "teams": args.teams,
        "episode": None if args.episode == USUAL else args.episode,
        "games": args.games,
        "seats": None if args.seats is None else tuple(sorted(args.seats)),  # as the design has them
        "against": args.against,
        "same_deals": args.same_deals or None,
        "anonymous": args.anonymous or None,
        "intro": None if args.intro is None else read(args.intro),
    }
    return {name: value for name, value in given.items() if value is not None}


__all__ = ["StudyArgs", "check_only_for_studies", "run_study"]
