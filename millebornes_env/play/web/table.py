"""The page's engine in Python, which answers the messages of the page.

`web/server_engine.js` sends the messages; the engine in the browser answers the same ones.
"""

from __future__ import annotations

import inspect
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import replace as dataclass_replace
from typing import Any, Final

import numpy as np

from millebornes_env import agents
from millebornes_env._util.texts import named
from millebornes_env._util.versions import __version__
from millebornes_env.agents.champion import champions_of
from millebornes_env.agents.protocol import Agent, ask_in
from millebornes_env.engine.numba.compiling import plain
from millebornes_env.engine.rulebook import NEXT_ROUND, StateArray
from millebornes_env.envs.vector import VectorEnv, vector_env
from millebornes_env.errors import PlayError, shown
from millebornes_env.games.millebornes.actions import (
    CLAIM_COUP_FOURRE,
    EXTEND,
    FINISH,
    PASS,
    action_name,
    card_of,
    discard_action,
    is_discard,
    opponent_of,
    play_action,
    target_team,
)
from millebornes_env.games.millebornes.cards import (
    CARD_NAMES,
    KM,
    NO_CARD,
    NUM_CARD_TYPES,
    is_distance,
    is_hazard,
    is_remedy,
)
from millebornes_env.games.millebornes.reasons import reason_against
from millebornes_env.games.millebornes.rule_checks import limits
from millebornes_env.games.millebornes.rules import FIELDS, TABLE_FIELDS, Rules, rules_record
from millebornes_env.games.millebornes.state import ROUND_OVER
from millebornes_env.games.millebornes.winning import has_won_match
from millebornes_env.games.registry import DEFAULT_GAME, editions, mini_decks
from millebornes_env.games.registry import edition as find_edition
from millebornes_env.games.sheets import newest_version, split_label
from millebornes_env.notation import Position, write_action, write_position, write_record
from millebornes_env.notation.lines import CARD_WORDS
from millebornes_env.play.web.game import PlayedGame, shown_here
from millebornes_env.play.web.opinions import opinion
from millebornes_env.render.millebornes.table_view import ALL, table_view

MESSAGES: Final = (
    "catalogue",
    "rules",
    "start",
    "load",
    "goto",
    "save",
    "record",
    "position",
    "play",
    "undo",
    "why_not",
    "log",
    "choose",
    "think",
)
"""Messages that the page may send; each is a method of `CardTable` that takes and returns JSON values."""

DEFAULT_EDITION: Final = "parker"
"""Edition of texts that name none."""

CHAMPION: Final = "champion"
ANYWHERE: Final = {
    "strategist": "Strategist",
    "arnold": "Arnold",
    "holder": "Holder",
    "racer": "Racer",
    "attacker": "Attacker",
    "hoarder": "Hoarder",
    "greedy": "Greedy",
    "random": "Random",
    "strategist+search": "Strategist with search",
}
"""Agents that play at every table, and their names on the page."""

CHAMPIONS: Final = {CHAMPION: "Champion", "champion+search": "Champion with search"}
"""Agents with a trained network, which play at the tables that it was trained for."""

_KINDS: Final = {
    CLAIM_COUP_FOURRE: "claim",
    PASS: "refuse",
    EXTEND: "extend",
    FINISH: "finish",
    NEXT_ROUND: "next_round",
}
_EDITION_LINE: Final = re.compile(r"^\s*edition\s*:\s*(.*?)\s*$", re.IGNORECASE | re.MULTILINE)
_DEAL_WORDS: Final = "deal the next round"
_MOST_SEED: Final = 2**64 - 1


class CardTable:
    """One table of Mille Bornes.

    An invalid message raises a `MilleBornesError`, whose text the page shows.
    """

    def __init__(self, usual: Mapping[str, Any] | None = None) -> None:
        """Create a table without a game.

        Args:
            usual: defaults of the page: `edition`, `players`, `teams`, `episode`, `against`, `seed`. Only
                here may the agent be any that `agents.load` accepts.
        """
        self._usual = dict(usual or {})
        self._own_path = ""
        given = self._usual.get("edition")
        if given is not None:  # from here on by its label, as in positions: pages know no paths
            sheet = find_edition(given)
            self._usual["edition"] = sheet.label
            if sheet.name not in (*editions(), *mini_decks()):
                self._own_path = split_label(str(given))[0]
        self._game: PlayedGame | None = None
        self._env: VectorEnv | None = None
        self._agents: dict[str, Agent] = {}

    def answer(self, message: str, arguments: Mapping[str, Any]) -> Any:
        """Return the answer to a message.

        Args:
            message: one of `MESSAGES`.
            arguments: arguments of the method, by name.

        Raises:
            PlayError: there is no such message or argument.
            MilleBornesError: the table refuses the message.
        """
        if message not in MESSAGES:
            raise PlayError(f"there is no message {shown(message)}; they are {', '.join(MESSAGES)}")
        method: Callable[..., Any] = getattr(self, message)
        try:
            inspect.signature(method).bind(**arguments)
        except TypeError as error:
            raise PlayError(f"{message}: {error}") from None
        return method(**arguments)

    # The choice of a game ----------------------------------------------------------------------------------

    def catalogue(self) -> dict[str, Any]:
        """List the editions with their tables, the agents and the cards."""
        return {
            "version": __version__,
            "editions": [
                edition_entry(name)
                for name in (*([self._own_path] if self._own_path else []), *editions(), *mini_decks())
            ],
            "agents": [*self._own_agent(), *agent_entries()],
            "cards": [card_entry(card) for card in range(NUM_CARD_TYPES)],
            "usual": self._usual,
        }

    def _own_agent(self) -> list[dict[str, Any]]:
        """List the agent of the command line, unless it is one of the others."""
        against = self._usual.get("against")
        if against is None or against in ANYWHERE or against in CHAMPIONS:
            return []
        return [{"name": against, "title": against, "tables": "all"}]

    def rules(self, edition: str, players: int, teams: int | None = None) -> list[dict[str, Any]]:
        """List the rules of a table (`rule_entry`): of each also its value, and that of the sheet."""
        sheet = self._sheet(edition)
        table: Rules = sheet.table(players, teams)
        usual: Rules = dataclass_replace(sheet, changes={}).table(players, teams)
        return [
            rule_entry(name)
            | {
                "value": FIELDS[name].choices[value] if FIELDS[name].choices else value,
                "number": value,
                "usual": getattr(usual, name),
            }
            for name, value in table._asdict().items()
        ]

    def _sheet(self, name: str) -> Any:
        """Find a shipped sheet, or the one of the command line, with overrides; pages may not name files."""
        given: object = name
        stem = given.partition("+")[0] if isinstance(given, str) else ""
        known = (*editions(None), *mini_decks())
        own = self._own_named(given)
        if own is None and stem not in known and newest_version(stem, known) is None:
            known = (*editions(), *mini_decks())
            raise PlayError(f"there is no edition {shown(name)}; they are {', '.join(known)}")
        return shown_here(find_edition(own or name))

    def _own_named(self, label: object) -> str | None:
        """Return the path, with the label's overrides, of the command line's sheet; None for other sheets."""
        path = self._own_path
        stems = (path, find_edition(path).name) if path and isinstance(label, str) else ()
        rests = [str(label)[len(stem) :] for stem in stems if f"{label}+".startswith(f"{stem}+")]
        return path + rests[0] if rests else None

    # The game ----------------------------------------------------------------------------------------------

    def start(
        self,
        edition: str,
        players: int = 2,
        teams: int | None = None,
        episode: str = "round",
        seed: int | None = None,
        overrides: Mapping[str, int] | None = None,
    ) -> dict[str, Any]:
        """Deal a new game."""
        if not isinstance(overrides, Mapping | None):
            raise PlayError(f"overrides are rules by name, each with a number; got {shown(overrides)}")
        label = "+".join([str(edition), *(f"{name}={value}" for name, value in (overrides or {}).items())])
        if seed is not None:
            _number("seed", seed, most=_MOST_SEED)
        env = vector_env(
            1,
            self._sheet(label),
            players=players,
            teams=teams,
            episode=episode,
            autoreset_mode="disabled",
            seed=seed,
        )
        env.reset()
        self._set_game(
            PlayedGame(Position(env.edition, env.rules, env.get_states()), is_match=episode == "match")
        )
        return self.position()

    def load(self, text: str, episode: str | None = None) -> dict[str, Any]:
        """Load a position or a record, and go to its beginning."""
        if not isinstance(text, str):
            raise PlayError(f"a position or a record is text; got {shown(text)}")
        if episode not in (None, "round", "match"):
            raise PlayError(f"an episode is a round or a match; got {shown(episode)}")
        named_edition = _EDITION_LINE.search(text)
        own = self._own_named(named_edition[1] if named_edition else self._usual.get("edition"))
        self._set_game(
            PlayedGame.of_text(
                text,
                edition=own or str(self._usual.get("edition") or DEFAULT_EDITION),
                is_match=None if episode is None else episode == "match",
            )
        )
        return {"positions": len(self._playing.plays) + 1, "episode": self._episode}

    def _set_game(self, game: PlayedGame) -> None:
        rules = game.rules
        episode = "match" if game.is_match else "round"
        self._env = vector_env(
            1,
            game.start.edition,
            players=rules.players,
            teams=rules.teams,
            episode=episode,
            autoreset_mode="disabled",
        )
        self._agents = {}
        self._game = game

    @property
    def _playing(self) -> PlayedGame:
        if self._game is None:
            raise PlayError("there is no game yet: start one, or load one")
        return self._game

    @property
    def _episode(self) -> str:
        return "match" if self._playing.is_match else "round"

    def goto(self, k: int) -> dict[str, Any]:
        """Go to the position after k plays."""
        self._playing.go_to(_number("k", k))
        return self.position()

    def save(self) -> dict[str, str]:
        """Return the position as text."""
        game = self._playing
        return {"text": write_position(game.states, game.start.edition, game.rules)}

    def record(self) -> dict[str, str]:
        """Return the whole game as text."""
        return {"text": write_record(self._playing.record())}

    def play(self, action: int) -> dict[str, Any]:
        """Play an action of the seat to act."""
        self._playing.play(_number("action", action, lowest=NEXT_ROUND))
        return self.position()

    def undo(self) -> dict[str, Any]:
        """Take back the last play."""
        self._playing.take_back()
        return self.position()

    # Views of the game -------------------------------------------------------------------------------------

    def position(self, seat: int | str | None = None) -> dict[str, Any]:
        """Return the position as a seat sees it; "all" shows every hand, None shows none."""
        game = self._playing
        rules, state = game.rules, game.state
        if seat not in (None, ALL) and not 0 <= _number("seat", seat) < rules.players:
            raise PlayError(f"there is no seat {shown(seat)}; they are 0 to {rules.players - 1}")
        to_act = int(state.seat)
        last = game.plays[game.at - 1] if game.at else None
        view = table_view(state, rules, seat)
        match_over = int(state.phase) == ROUND_OVER and not game.can_go_on()
        if match_over and game.is_match:
            record = rules_record(rules)
            view["winners"] = [
                team for team in range(rules.teams) if plain(has_won_match)(state, record, team)
            ]
        return view | {
            "edition": game.start.edition.label,
            "episode": self._episode,
            "match_over": match_over,
            "legal": [choice(action, rules, to_act) for action in game.legal()],
            "last": None if last is None else _log_entry(last.seat, last.action, rules),
            "at": game.at,
            "plays": len(game.plays),
        }

    def log(self) -> list[dict[str, Any]]:
        """List all plays, in notation and in words."""
        return [_log_entry(play.seat, play.action, self._playing.rules) for play in self._playing.plays]

    def why_not(self, card: int, target_team: int | str | None = None) -> dict[str, str | None]:
        """Return the reason why a card cannot be played there, half a sentence; None if it can."""
        game = self._playing
        card = _number("card", card)
        if card >= NUM_CARD_TYPES:
            raise PlayError(f"there is no card {card}; they are 0 to {NUM_CARD_TYPES - 1}")
        action = _action_of(card, target_team, game.rules, int(game.state.seat))
        if action is None:
            side = "another team's" if is_hazard(card) else "the own"
            return {"reason": f"{CARD_NAMES[card]} is played on {side} side of the table"}
        if action in game.legal():
            return {"reason": None}
        return {"reason": reason_against(game.state, game.rules, action)}

    # Agents ------------------------------------------------------------------------------------------------

    def choose(self, agent: str, seat: int | None = None) -> dict[str, Any]:
        """Return an agent's action in this position."""
        game, env = self._playing, self._at_the_table()
        if int(game.state.phase) == ROUND_OVER:
            raise PlayError("the round is over: no seat is to act")
        if seat is not None and _number("seat", seat) != int(game.state.seat):
            raise PlayError(f"it is the turn of seat {int(game.state.seat)}, not of seat {seat}")
        player = self._agent(agent)
        start = time.perf_counter()
        action = int(ask_in(env, player, env._observations)[0])
        return {"action": action, "ms": round(1000 * (time.perf_counter() - start), 3)}

    def think(self, agent: str = CHAMPION, search: bool = False, belief: bool = False) -> dict[str, Any]:
        """Return an agent's opinion of the position of the seat to act (`opinions.opinion`)."""
        game, env = self._playing, self._at_the_table()
        for name, value in (("search", search), ("belief", belief)):
            if not isinstance(value, bool):
                raise PlayError(f"{name} must be true or false; got {shown(value)}")
        if int(game.state.phase) == ROUND_OVER:
            raise PlayError("the round is over: no seat is to act")
        plays = game.plays_of_round() if belief else None
        return opinion(env, self._agent(agent), env._observations, with_search=search, plays=plays)

    def _at_the_table(self) -> VectorEnv:
        """Return the environment in the current position."""
        assert self._env is not None
        states: StateArray = self._playing.states
        self._env.set_states(states)
        return self._env

    def _agent(self, name: str) -> Agent:
        """Return an agent of the catalogue, which is created at its first use.

        Raises:
            PlayError: there is no such agent.
            MilleBornesError: it cannot play at this table.
        """
        given: object = name
        known = [*ANYWHERE, *CHAMPIONS, *(one["name"] for one in self._own_agent())]
        if not isinstance(given, str) or given not in known:
            raise PlayError(f"there is no agent {shown(name)}; they are {', '.join(sorted(known))}")
        if name not in self._agents:
            assert self._env is not None
            agent = agents.load(named(name)[1], self._env, int(np.random.default_rng().integers(2**32)))
            refuse_person(agent, name)
            self._agents[name] = agent
        return self._agents[name]


def refuse_person(agent: Agent, name: str) -> None:
    """Raise PlayError if the agent asks a person at the terminal."""
    if getattr(agent, "is_person", False):
        raise PlayError(
            f"{name!r} asks a person at the server's terminal, not on the page: choose another agent"
        )


# Words -----------------------------------------------------------------------------------------------------


def _log_entry(seat: int, action: int, rules: Rules) -> dict[str, Any]:
    """Describe a play for the log."""
    if action == NEXT_ROUND:
        return {"seat": None, "action": action, "notation": "next round", "words": _DEAL_WORDS}
    return {"seat": seat, "action": action, **_named_action(action, rules, seat)}


def _named_action(action: int, rules: Rules, seat: int) -> dict[str, str]:
    return {
        "notation": f"seat {seat}: {write_action(action, rules, seat)}",
        "words": action_name(action, rules.teams, seat % rules.teams),
    }


def choice(action: int, rules: Rules, seat: int) -> dict[str, Any]:
    """Describe a legal action."""
    if action == NEXT_ROUND:
        words = {"notation": "next round", "words": _DEAL_WORDS}
        return {"action": action, "kind": "next_round", "card": None, "target_team": None, **words}
    card = card_of(action)
    kind = _KINDS.get(action, "discard" if is_discard(action) else "play")
    own = seat % rules.teams
    target = None
    if kind == "play":
        target = target_team(rules.teams, own, opponent_of(action)) if is_hazard(card) else own
    return {
        "action": action,
        "kind": kind,
        "card": None if card == NO_CARD else card,
        "target_team": target,
        **_named_action(action, rules, seat),
    }


def _action_of(card: int, target: int | str | None, rules: Rules, seat: int) -> int | None:
    """Return the action of playing a card at a target; None if there is none."""
    if target == "discard":
        return int(discard_action(card))
    own = seat % rules.teams
    if target is None:
        return int(play_action(card, 0))
    team = _number("target_team", target)
    if team >= rules.teams:
        raise PlayError(f"there is no team {team}; they are 0 to {rules.teams - 1}")
    if is_hazard(card):
        return None if team == own else int(play_action(card, (team - own - 1) % rules.teams))
    return int(play_action(card, 0)) if team == own else None


# The catalogue ---------------------------------------------------------------------------------------------


def edition_entry(name: str) -> dict[str, Any]:
    """Describe an edition: its words and its tables."""
    sheet = find_edition(name)
    tables = [{"players": players, "teams": teams} for players, teams in sheet.tables]
    entry = {"name": sheet.name, "title": sheet.title, "summary": sheet.summary, "tables": tables}
    return entry | {"is_mini": sheet.name in mini_decks()}


def agent_entries() -> list[dict[str, Any]]:
    """Describe the agents, the strongest first, each with the tables where it plays."""
    tables = sorted({(one["players"], one["teams"]) for one in champions_of(DEFAULT_GAME).values()})
    where = [list(table) for table in tables]
    known = [{"name": name, "title": title, "tables": where} for name, title in CHAMPIONS.items()]
    return known + [{"name": name, "title": title, "tables": "all"} for name, title in ANYWHERE.items()]


def card_entry(card: int) -> dict[str, Any]:
    """Describe a card."""
    kinds = ((is_distance, "distance"), (is_hazard, "hazard"), (is_remedy, "remedy"))
    kind = next((name for is_one, name in kinds if is_one(card)), "safety")
    entry: dict[str, Any] = {"id": card, "name": CARD_WORDS[card], "kind": kind, "title": CARD_NAMES[card]}
    return entry | ({"km": int(KM[card])} if is_distance(card) else {})


def rule_entry(name: str) -> dict[str, Any]:
    """Describe a rule: the question that it answers, and its possible values."""
    field = FIELDS[name]
    return {
        "field": name,
        "question": field.question,
        "choices": list(field.choices),
        "limits": None if name in TABLE_FIELDS else limits(name)._asdict(),
    }


def _number(name: str, value: Any, lowest: int = 0, most: int = 2**31 - 1) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not lowest <= value <= most:
        raise PlayError(f"{name} must be a whole number from {lowest} to {most}; got {shown(value)}")
    return value
