"""The design of a study: its table, the players, the number of games, and a link for each participant.

It is saved as `study.json` in the study's folder, with the seed of the deals and the participants'
tokens. Only the experimenter may read this file. A stopped study is resumed from it.
"""

from __future__ import annotations

import csv
import io
import json
import os
import secrets
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Final

from millebornes_env._util.files import write_json_atomically, write_text_atomically
from millebornes_env._util.texts import text_of_file
from millebornes_env._util.versions import versions
from millebornes_env.envs.options import USUAL
from millebornes_env.envs.vector import vector_env
from millebornes_env.errors import PlayError, shown
from millebornes_env.games.registry import edition as find_edition
from millebornes_env.games.sheets import split_label
from millebornes_env.notation.position import game_of
from millebornes_env.play.study.journal import FORMAT

FILE: Final = "study.json"
LINKS: Final = "links.csv"
SHEET: Final = "sheet.toml"
"""Copy of the rule sheet, if it is a file of the experimenter's own."""
SESSIONS: Final = "sessions"
"""Name of the folder with a file for each session."""

MOST_PARTICIPANTS: Final = 10_000
_MOST_GAMES: Final = 1_000
_MOST_INTRO: Final = 100_000
_MOST_SEED: Final = 2**64 - 1


@dataclass(frozen=True, kw_only=True)
class Design:
    """The settings that all sessions of a study share.

    Attributes:
        edition: name of the rule sheet, or path of the study's copy of it, with overrides.
        players: number of seats.
        teams: number of teams; None: the sheet's default.
        episode: length of a game, "round" or "match".
        games: number of games that each participant plays.
        seats: seats of the participants; agents have the others.
        against: name of the agent; "": the game's default opponent.
        same_deals: deal the same cards in all sessions.
        anonymous: show participants "player 1" instead of the agent's name.
        intro: text that participants read first; "": none.
    """

    edition: str = "parker"
    players: int = 2
    teams: int | None = None
    episode: str = USUAL
    games: int = 1
    seats: tuple[int, ...] = (0,)
    against: str = ""
    same_deals: bool = False
    anonymous: bool = False
    intro: str = ""

    def checked(self) -> Design:
        """Return the design with defaults filled in.

        Raises:
            MilleBornesError: the table, a seat or the number of games is invalid.
        """
        env = vector_env(
            1,
            self.edition,
            players=self.players,
            teams=self.teams,
            episode=self.episode,
            autoreset_mode="disabled",
        )
        game_of(self.edition).hook("play.study", "play --study")
        if not self.seats or sorted(set(self.seats)) != sorted(self.seats):
            raise PlayError(
                f"the seats of participants must be one or more different seats; got {list(self.seats)}"
            )
        for seat in self.seats:
            if not 0 <= seat < env.players:
                raise PlayError(f"there is no seat {seat}; the seats are 0 to {env.players - 1}")
        if not 1 <= self.games <= _MOST_GAMES:
            raise PlayError(f"participants play 1 to {_MOST_GAMES} games; got {self.games}")
        against, seats = self.against or env.game.rival, tuple(sorted(self.seats))
        return replace(self, teams=env.teams, episode=env.episode, against=against, seats=seats)


@dataclass(frozen=True)
class Participant:
    """A participant of a study.

    Attributes:
        name: name in all files, such as "p0001".
        session: index of the session.
        seat: seat at its table.
        token: secret of the participant's link.
    """

    name: str
    session: int
    seat: int
    token: str


@dataclass(frozen=True)
class Study:
    """A study and its folder.

    Attributes:
        folder: the folder with all files.
        name: random name, drawn when the study was created.
        design: the settings that all sessions share.
        seed: seed of the deals.
        participants: the participants by token.
    """

    folder: Path
    name: str
    design: Design
    seed: int
    participants: Mapping[str, Participant]

    def participants_of(self, session: int) -> dict[int, str]:
        """Return the names of a session's participants, by seat."""
        return {one.seat: one.name for one in self.participants.values() if one.session == session}

    def path_of(self, session: int) -> Path:
        """Return the path of a session's file."""
        return self.folder / SESSIONS / f"{session_name(session)}.jsonl"

    def write_links(self, address: str) -> Path:
        """Write each participant's link to `links.csv`, and return its path.

        Browsers never send the part of a link after "#", so no request log contains it.
        """
        text = io.StringIO()
        rows = csv.writer(text, lineterminator="\n")
        rows.writerow(("participant", "session", "seat", "link"))
        for one in self.participants.values():
            rows.writerow((one.name, session_name(one.session), one.seat, f"{address}#join={one.token}"))
        write_text_atomically(self.folder / LINKS, text.getvalue())
        os.chmod(self.folder / LINKS, 0o600)
        return self.folder / LINKS


def session_name(session: int) -> str:
    """Return the name of a session in lines and file names."""
    return f"s{session + 1:04}"


# Creating and resuming studies ------------------------------------------------------------------------------


def open_study(
    folder: Path,
    options: Mapping[str, Any],
    participants: int | None,
    seed: int | None,
    try_out: Callable[[Design], None] = lambda design: None,
) -> Study:
    """Open the study of a folder, or create one.

    Args:
        folder: created if it is missing.
        options: fields of the design; an existing study must have the same values.
        participants: total number of participants; None: that of the study, or enough for one session.
        seed: seed of the deals; None: that of the study, or a random one.
        try_out: function that is called with the design before anything is written, to raise its errors.

    Raises:
        PlayError: the folder has other files or another design, or an argument is invalid.
        OSError: the folder cannot be written to.
    """
    existing = _read(folder)
    if existing is None:
        design = Design(**options).checked()
        if seed is not None and not 0 <= seed <= _MOST_SEED:
            raise PlayError(f"a seed is 0 to {_MOST_SEED}; got {seed}")
        seed = secrets.randbelow(2**63) if seed is None else seed
        existing = Study(folder, secrets.token_hex(4), design, seed, {})
    else:
        _check_same(existing, options, seed)
    study = _with_participants(existing, participants)
    try_out(study.design)
    (folder / SESSIONS).mkdir(parents=True, exist_ok=True)
    os.chmod(folder, 0o700)
    study = _with_its_sheet(study)
    _write(study)
    return study


def edition_in(folder: Path, edition: str) -> str:
    """Return an edition of a study, where a sheet of one's own is the copy in its folder."""
    stem, overrides = split_label(edition)
    return "+".join([str(folder / SHEET) if stem.endswith(".toml") else stem, *overrides])


def _with_its_sheet(study: Study) -> Study:
    """Copy a sheet of one's own into the folder, so that no later change of the file changes the study."""
    edition = edition_in(study.folder, study.design.edition)
    if edition != study.design.edition:
        text = Path(split_label(study.design.edition)[0]).read_text(encoding="utf-8")
        write_text_atomically(study.folder / SHEET, text)
    return replace(study, design=replace(study.design, edition=edition))


def intro_of(path: Path) -> str:
    """Read the text that participants read first.

    Raises:
        PlayError: the text is too long or invalid.
        OSError: the file cannot be read.
    """
    return text_of_file(path, PlayError, _MOST_INTRO).strip()


def _check_same(existing: Study, options: Mapping[str, Any], seed: int | None) -> None:
    for name, wanted in options.items():
        result = getattr(existing.design, name)
        is_same = find_edition(wanted) == find_edition(result) if name == "edition" else wanted == result
        if not is_same:
            raise PlayError(
                f"{existing.folder}: this study has {name} {shown(result)}, not {shown(wanted)}: leave the "
                "option out to resume it, or choose another folder"
            )
    if seed not in (None, existing.seed):
        raise PlayError(f"{existing.folder}: this study has another seed: leave --seed out to resume it")


def _with_participants(study: Study, count: int | None) -> Study:
    seats, participants = study.design.seats, list(study.participants.values())
    wanted = (len(participants) or len(seats)) if count is None else count
    if not 1 <= wanted <= MOST_PARTICIPANTS:
        raise PlayError(f"a study has 1 to {MOST_PARTICIPANTS:,} participants; got {wanted}")
    if wanted < len(participants):
        raise PlayError(
            f"{study.folder}: this study has {len(participants)} participants: the number cannot be reduced"
        )
    if wanted % len(seats):
        raise PlayError(f"each table has {len(seats)} participants: {wanted} do not fill whole tables")
    for number in range(len(participants), wanted):
        session, index = divmod(number, len(seats))
        name, token = f"p{number + 1:04}", secrets.token_urlsafe(16)
        participants.append(Participant(name, session, seats[index], token))
    return replace(study, participants={one.token: one for one in participants})


def _write(study: Study) -> None:
    content = {
        "format": FORMAT,
        "study": study.name,
        "versions": versions(),
        "design": asdict(study.design),
        "seed": study.seed,
        "participants": [asdict(one) for one in study.participants.values()],
    }
    write_json_atomically(study.folder / FILE, content)
    os.chmod(study.folder / FILE, 0o600)


def _read(folder: Path) -> Study | None:
    """Read the study of a folder; None if the folder is empty or missing."""
    path = folder / FILE
    if not path.is_file():
        if folder.is_dir() and any(not one.name.startswith(".") for one in folder.iterdir()):
            raise PlayError(f"{folder} contains other files and no study: choose an empty or a new folder")
        return None
    try:
        result = json.loads(path.read_bytes())
    except (ValueError, RecursionError):
        raise PlayError(f"{path} is damaged: it is not JSON") from None
    version = result.get("format") if isinstance(result, dict) else None
    if version != FORMAT:
        raise PlayError(f"{path} is of format {shown(version)}; this version of the package reads {FORMAT}")
    try:
        design = Design(**result["design"] | {"seats": tuple(result["design"]["seats"])})
        design = replace(design, edition=edition_in(folder, design.edition))
        participants = [Participant(**one) for one in result["participants"]]
        by_token = {one.token: one for one in participants}
        return Study(folder, str(result["study"]), design, int(result["seed"]), by_token)
    except (KeyError, TypeError, ValueError) as error:
        raise PlayError(f"{path} is damaged ({type(error).__name__}: {error})") from None
