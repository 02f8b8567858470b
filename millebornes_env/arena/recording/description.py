"""What is recorded, said once in JSON: it stands in the folder and in every file of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from millebornes_env import agents
from millebornes_env._util.texts import items_of
from millebornes_env.agents.fingerprint import fingerprint
from millebornes_env.agents.protocol import Agent, Table, sees_hidden_cards
from millebornes_env.arena.match import agent_seed
from millebornes_env.arena.recording.playing import HIDDEN
from millebornes_env.envs.vector import VectorEnv, vector_env
from millebornes_env.errors import ArenaError, shown
from millebornes_env.games.millebornes.rules import Rules
from millebornes_env.games.millebornes.sections import full_state_sections
from millebornes_env.games.registry import find_sheet

FORMAT: Final = "millebornes_env recording"
FORMAT_VERSION: Final = 1
"""Goes up when files of an older version can no longer be read."""

_MOST_AGENTS: Final = 8
_MOST: Final = 100_000  # rounds of a file, and any size in a description
_LARGEST_SEED: Final = 2**64 - 1


@dataclass(frozen=True)
class Recording:
    """What is recorded: who plays, at which table, and what is kept.

    Attributes:
        agents: who plays, as `agents.load` takes them: one for each team, or fewer, and the last one plays
            the teams that are left. They change places from round to round.
        edition: the rule sheet, overrides included ("parker+max_200=4"), or the path of one of your own.
        players: seats at the table.
        teams: teams at the table; None: as usual for the sheet.
        reward: what `reward_to_go` counts, "points" or "win", as in `vector_env`.
        seed: of the deals and of the agents.
        hidden: whether the cards in the other hands are kept too, which no agent saw.
        rounds_per_file: how many rounds are played and written at a time. It decides the agents' random
            numbers, too: so all files of a folder have it in common.

    Raises:
        ArenaError: a value that cannot be. Whether there are such agents and tables, `described` says.
    """

    agents: Sequence[str]
    edition: str = "parker"
    players: int = 2
    teams: int | None = None
    reward: str = "points"
    seed: int = 1
    hidden: bool = False
    rounds_per_file: int = 5_000

    def __post_init__(self) -> None:
        named = None if isinstance(self.agents, str) else items_of(self.agents, _MOST_AGENTS)
        if not named or not all(isinstance(one, str) for one in named):
            raise ArenaError(
                f"agents is {shown(self.agents)}; it must be a list of names, such as ['champion', 'greedy']"
            )
        object.__setattr__(self, "agents", tuple(named))
        for name, least, most in (("seed", 0, _LARGEST_SEED), ("rounds_per_file", 1, _MOST)):
            value: object = getattr(self, name)
            if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
                raise ArenaError(
                    f"{name} is {shown(value)}; it must be a whole number from {least} to {most}"
                )

    def env(self, rounds: int) -> VectorEnv:
        """So many rounds at the table.

        Raises:
            MilleBornesError: there is no such table; the message says what there is.
        """
        return vector_env(
            rounds,
            self.edition,
            players=self.players,
            teams=self.teams,
            episode="round",
            reward=self.reward,
            autoreset_mode="disabled",
        )

    def players_of(self, env: VectorEnv, file: int) -> list[Agent]:
        """The agents as they play one file: made anew, with random numbers of their own.

        Raises:
            ValueError: there is no such agent, or it does not play this table; the message says which.
        """
        table = Table.of(env)
        return [
            agents.make(spec, table, agent_seed(self.seed, role, file))
            for role, spec in enumerate(self.agents)
        ]

    def described(self) -> dict[str, Any]:
        """All that two folders must have in common to hold the same rounds.

        Returns:
            Values as JSON has them: equal to themselves when they were written and read.

        Raises:
            ArenaError: more agents than teams, or another game.
            ValueError: there is no such table or agent; the message says which.
        """
        sheet = find_sheet(self.edition)
        if not isinstance(sheet.table(self.players, self.teams), Rules):
            raise ArenaError(
                f"what is recorded is Mille Bornes, so far: {sheet.label!r} is of the game {sheet.game!r}"
            )
        env = self.env(1)
        if len(self.agents) > env.teams:
            raise ArenaError(
                f"{len(self.agents)} agents cannot play at a table of {env.teams} teams: name one for each "
                "team at most"
            )
        players = self.players_of(env, 0)
        hidden = next(one for one in full_state_sections(env.rules) if one.name == HIDDEN)
        return {
            "format": FORMAT,
            "format_version": FORMAT_VERSION,
            "game": env.game.name,
            "edition": env.edition.label,
            "players": env.players,
            "teams": env.teams,
            "rules": dict(env.rules._asdict()),
            "agents": [
                {"name": spec, "fingerprint": fingerprint(agent, spec), "cheats": sees_hidden_cards(agent)}
                for spec, agent in zip(self.agents, players, strict=True)
            ],
            "episode": env.episode,
            "reward": env.reward,
            "seed": self.seed,
            "rounds_per_file": self.rounds_per_file,
            "observation_version": env.observation_version,
            "observation": [
                {
                    "name": one.name,
                    "start": one.start,
                    "size": one.size,
                    "high": one.high,
                    "meaning": one.meaning,
                }
                for one in env.observation_sections
            ],
            "actions": [
                env.games.rulebook.action_name(action, env.rules, None)
                for action in range(int(env.single_action_space.n))
            ],
            "hidden": hidden.size if self.hidden else 0,
        }


def sizes(described: Mapping[str, Any]) -> tuple[int, int, int]:
    """D, A and H: the numbers of an observation, of a mask, and of the hidden cards (0: not kept)."""
    last = described["observation"][-1]
    return last["start"] + last["size"], len(described["actions"]), described["hidden"]


_KINDS: Final[dict[str, tuple[type, str]]] = {
    **dict.fromkeys(("game", "edition", "episode", "reward"), (str, "a text")),
    **dict.fromkeys(("players", "teams", "rounds_per_file"), (int, "a whole number above 0")),
    **dict.fromkeys(("seed", "observation_version", "hidden"), (int, "a whole number, 0 or more")),
    "rules": (dict, "an object of whole numbers"),
    "agents": (list, "a list of objects with name, fingerprint and cheats"),
    "observation": (list, "a list of objects with name, start, size, high and meaning"),
    "actions": (list, "a list of texts"),
}
"""The entries of a description: what each is, and in words."""
_OF_AGENTS: Final = {"name": str, "fingerprint": str, "cheats": bool}
_OF_SECTIONS: Final = {"name": str, "start": int, "size": int, "high": int, "meaning": str}


def checked(described: object, where: str) -> dict[str, Any]:
    """Return the description, if this release can read what it describes.

    Args:
        described: what was read.
        where: the file that it stands in.

    Raises:
        ArenaError: it describes no recording, or one of another version, or an entry is not what it must
            be; the message names the file and the entry.
    """
    if not isinstance(described, dict) or described.get("format") != FORMAT:
        raise ArenaError(f"{where}: this was not written by `millebornes record`")
    version = described.get("format_version")
    if version != FORMAT_VERSION:
        raise ArenaError(
            f"{where}: it is of version {shown(version)} of the format, and this release reads version "
            f"{FORMAT_VERSION}: read it with the release that wrote it, or record again into another folder"
        )
    for name, (kind, words) in _KINDS.items():
        value = described.get(name)
        if type(value) is not kind or not _is_right(name, value):
            raise ArenaError(f"{where}: its entry {name!r} is {shown(value)}; it must be {words}")
    return described


def _is_right(name: str, value: Any) -> bool:
    """Return True if an entry of the right type has values that can be."""
    if name in ("players", "teams", "rounds_per_file"):
        return bool(0 < value <= _MOST)
    if name in ("seed", "observation_version", "hidden"):
        return bool(0 <= value <= (_MOST if name == "hidden" else _LARGEST_SEED))
    if name == "rules":
        return all(type(one) is int for one in value.values())
    if name == "actions":
        return bool(value) and all(isinstance(one, str) for one in value)
    parts = {"agents": _OF_AGENTS, "observation": _OF_SECTIONS}.get(name, {})
    return not parts or (bool(value) and all(_has(one, parts) for one in value))


def _has(entries: object, parts: Mapping[str, type]) -> bool:
    return isinstance(entries, dict) and all(type(entries.get(name)) is kind for name, kind in parts.items())


def first_difference(wanted: Mapping[str, Any], found: Mapping[str, Any]) -> str | None:
    """The first entry in which two descriptions differ, in words; None: they are the same."""
    for name, value in wanted.items():
        other = found.get(name)
        if other != value:
            if name == "agents" and isinstance(other, list):
                return _difference_of_agents(value, other)
            if isinstance(value, (dict, list)):
                return f"{name} is not what it was"
            return f"{name} is {shown(value)} now, and was {shown(other)}"
    return None


def _difference_of_agents(wanted: list[Any], found: list[Any]) -> str:
    now, then = ([one.get("name") for one in listed] for listed in (wanted, found))
    if now != then:
        return f"the agents are {', '.join(now)} now, and were {', '.join(map(str, then))}"
    changed = [one["name"] for one, other in zip(wanted, found, strict=True) if one != other]
    return f"{', '.join(changed)} is another agent now: its code, its network or the rules have changed"
