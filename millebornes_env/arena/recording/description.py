"""The description of a recording: its options, and the JSON in its folder and in each of its files."""

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
from millebornes_env.envs.table_spec import TableSpec
from millebornes_env.envs.vector import VectorEnv
from millebornes_env.errors import ArenaError, shown
from millebornes_env.games.millebornes.rules import Rules
from millebornes_env.games.millebornes.sections import full_state_sections
from millebornes_env.games.variants import sheets_of

FORMAT: Final = "millebornes_env recording"
FORMAT_VERSION: Final = 2
"""Version of the format; increased when older files can no longer be read."""

_MOST_AGENTS: Final = 8
_MOST: Final = 100_000  # for the rounds of a file, and any size in a description
_LARGEST_SEED: Final = 2**64 - 1


@dataclass(frozen=True, kw_only=True)
class Recording(TableSpec):
    """The agents, the table and the options of a recording; the episodes are rounds.

    Attributes:
        agents: specifications as for `agents.load`: one for each team, or fewer, and the last one plays the
            remaining teams. They change places from round to round.
        reward: reward in `reward_to_go`, "points" or "win", as in `vector_env`.
        hidden: record the cards in the other hands, too, which no agent saw.
        rounds_per_file: number of rounds that are played and written at a time. It also determines the
            agents' random numbers, so all files of a folder share it.

    Raises:
        ArenaError: a value is invalid. Unknown agents and tables are reported by `described`.
    """

    agents: Sequence[str]
    episode: str = "round"
    reward: str = "points"
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

    def players_of(self, env: VectorEnv, file: int) -> list[Agent]:
        """Make the agents for one file, with random numbers of their own.

        Raises:
            ValueError: there is no such agent, or it does not play this table; the message says which.
        """
        table = Table.of(env)
        return [
            agents.make(spec, table, agent_seed(self.seed, role, file))
            for role, spec in enumerate(self.agents)
        ]

    def described(self) -> dict[str, Any]:
        """Return everything that determines the recorded rounds, as JSON values.

        Raises:
            ArenaError: there are more agents than teams, or it is another game.
            ValueError: there is no such table or agent; the message says which.
        """
        sheet = sheets_of(self.edition)
        if not isinstance(sheet.table(self.players, self.teams), Rules):
            raise ArenaError(
                f"only Mille Bornes can be recorded: {sheet.label!r} is of the game {sheet.game!r}"
            )
        env = self.env(reward=self.reward)
        if len(self.agents) > env.teams:
            raise ArenaError(
                f"{len(self.agents)} agents cannot play at a table of {env.teams} teams: name at most one "
                "for each team"
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
                {name: getattr(one, name) for name in _OF_SECTIONS} for one in env.observation_sections
            ],
            "actions": [
                env.games.rulebook.action_name(action, env.rules, None)
                for action in range(int(env.single_action_space.n))
            ],
            "hidden": hidden.size if self.hidden else 0,
        }


def sizes(described: Mapping[str, Any]) -> tuple[int, int, int]:
    """Return the sizes of an observation, of a mask, and of the hidden cards (0: not recorded)."""
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
"""The entries of a description, with their types, also in words."""
_OF_AGENTS: Final = {"name": str, "fingerprint": str, "cheats": bool}
_OF_SECTIONS: Final = {"name": str, "start": int, "size": int, "high": int, "meaning": str}


def checked(described: object, where: str) -> dict[str, Any]:
    """Validate and return the description read from the file `where`.

    Raises:
        ArenaError: it is not the description of a recording, has another version, or an entry is invalid;
            the message names the file and the entry.
    """
    if not isinstance(described, dict) or described.get("format") != FORMAT:
        raise ArenaError(f"{where}: this was not written by `millebornes record`")
    version = described.get("format_version")
    if version != FORMAT_VERSION:
        raise ArenaError(
            f"{where}: it has version {shown(version)} of the format, and this release reads version "
            f"{FORMAT_VERSION}: read it with the release that wrote it, or record again into another folder"
        )
    for name, (kind, words) in _KINDS.items():
        value = described.get(name)
        if type(value) is not kind or not _is_right(name, value):
            raise ArenaError(f"{where}: its entry {name!r} is {shown(value)}; it must be {words}")
    return described


def _is_right(name: str, value: Any) -> bool:
    """Return True if the value of an entry of the right type is valid."""
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
    """Describe the first difference of two descriptions; None: they are equal."""
    for name, value in wanted.items():
        other = found.get(name)
        if other != value:
            if name == "agents" and isinstance(other, list):
                return _difference_of_agents(value, other)
            if isinstance(value, (dict, list)):
                return f"{name} has changed"
            return f"{name} is {shown(value)} now, and was {shown(other)}"
    return None


def _difference_of_agents(wanted: list[Any], found: list[Any]) -> str:
    now, then = ([one.get("name") for one in listed] for listed in (wanted, found))
    if now != then:
        return f"the agents are {', '.join(now)} now, and were {', '.join(map(str, then))}"
    changed = [one["name"] for one, other in zip(wanted, found, strict=True) if one != other]
    return f"{', '.join(changed)} is a different agent now: its code, its network or the rules have changed"
