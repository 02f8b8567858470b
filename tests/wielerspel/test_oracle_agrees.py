"""The rulebook and the oracle, which was written from the text alone, ride the same races and are compared.

At every decision: who decides what, what is legal, and every public fact; at the end the winners and their
shares. Both get the same lots, dice and cards (those of the race's key) and the same choices.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from millebornes_env.engine.batch import NO_GAME, Batch, Settings
from millebornes_env.engine.kernels import DISABLED, SKIP
from millebornes_env.engine.numba.compiling import plain
from millebornes_env.games.wielerspel import dice, rulebook
from millebornes_env.games.wielerspel.actions import NUM_ACTIONS, action_name
from millebornes_env.games.wielerspel.editions import edition
from millebornes_env.games.wielerspel.rules import MAX_DECK, Rules, rules_array
from millebornes_env.games.wielerspel.sections import ObservationSpec
from millebornes_env.games.wielerspel.squares import KIND_NAMES
from millebornes_env.games.wielerspel.state import (
    BY_EXHAUSTION,
    BY_INNER_TRACK,
    BY_JERSEYS,
    BY_TURNS,
    PHASE_NAMES,
    SET_NAMES,
)
from tests.wielerspel.oracle.arc_en_ciel import ARC_EN_CIEL, Card
from tests.wielerspel.oracle.race import Race

NAMES = [action_name(action) for action in range(NUM_ACTIONS)]
ACTIONS = {name: action for action, name in enumerate(NAMES)}
PHASES = {"race over": "OVER"} | {name: name.upper() for name in PHASE_NAMES if name != "race over"}
ORACLE_KINDS = {"event_for_all": "yellow event", "polka_dot": "polka"}
"""Names that differ in the oracle, which writes blanks for underlines."""

SHEETS: dict[str, dict[str, int]] = {
    "usual": {},
    "five rainbows": {"target_rainbows": 5},
    "green and polka-dot besides": {"also_green": 1, "also_polka": 1},
    "combativity": {"combativity": 1},
    "hunger": {"energy": 20, "max_energy": 20, "servants": 3, "retirement_energy": 4, "combativity": 1},
    "few jerseys": {"jersey_cards": 3, "lap_supply": 9, "inner_track": 9, "max_turns": 100},
}
ORACLE_NAMES = {
    "retirement_energy": "retirement",
    "greens_for_rainbow": "greens_for_a_rainbow",
    "polka_for_rainbow": "polkas_for_a_rainbow",
}
PLAYERS = (2, 3, 4, 5, 6)
SETTINGS = Settings(
    episode=0, reward=0, autoreset=DISABLED, observation_spec=ObservationSpec(), punish_illegal=0
)
BATCH = 112
"""Races at each table with each player in the long run: 10,080 in all."""
CHEAP = 4
ENDINGS = {
    BY_JERSEYS: "jerseys",
    BY_INNER_TRACK: "inner track",
    BY_EXHAUSTION: "exhaustion",
    BY_TURNS: "turns",
}

white_die, yellow_die = plain(dice.white_die), plain(dice.yellow_die)
draw_lots, shuffle_deck = plain(dice.draw_lots), plain(dice.shuffle_deck)


class RulebookChance:
    """The rulebook's lots, dice and cards of one race, in the words of the oracle."""

    def __init__(self, state: Any, rules: Rules) -> None:
        self.rules = rules
        self.record = rules_array(rules)[0]
        self.drawn = SimpleNamespace(
            key=[int(word) for word in state["key"]],
            episode=int(state["episode"]),
            shuffles=0,
            deck=np.zeros(MAX_DECK, np.int8),
            peloton=[0] * rules.players,
        )

    def order(self) -> list[int]:
        draw_lots(self.drawn, self.record)
        return list(self.drawn.peloton)

    def white(self, turn: int) -> int:
        return int(white_die(self.drawn, turn))

    def yellow(self, turn: int) -> int:
        return int(yellow_die(self.drawn, turn))

    def deck(self, shuffle_number: int) -> list[Card]:
        self.drawn.shuffles = shuffle_number
        shuffle_deck(self.drawn, self.record)
        cards = [self.rules.deck[int(card)] for card in self.drawn.deck if card >= 0]
        return [(_oracle_kind(KIND_NAMES[card.kind]), card.number) for card in cards]


def _oracle_kind(kind: str) -> str:
    return ORACLE_KINDS.get(kind, kind.replace("_", " "))


def oracle_sheet(changes: dict[str, int]) -> dict[str, Any]:
    """The oracle's sheet with the same numbers changed; its board and deck are written by hand."""
    return ARC_EN_CIEL | {ORACLE_NAMES.get(name, name): value for name, value in changes.items()}


def wild(game: Race, legal: list[str], chance: random.Random) -> str:
    """Any legal action."""
    return chance.choice(legal)


def sober(game: Race, legal: list[str], chance: random.Random) -> str:
    """Bids are at most 4 above the highest; no servant retires who need not."""
    bids = [name for name in legal if name.startswith("bid")]
    kept = [name for name in legal if name not in bids[CHEAP:] and not name.startswith("retire")]
    return chance.choice(kept or legal)


def escaper(game: Race, legal: list[str], chance: random.Random) -> str:
    """Rides away and stays away, whatever it costs."""
    if game.phase in ("AWAY", "ESCAPE"):
        return chance.choice([name for name in legal if name not in ("give up", "stay")])
    return sober(game, legal, chance)


Player = Callable[[Race, list[str], random.Random], str]
RIDERS: list[Player] = [wild, sober, escaper]
DECISIONS = {"AWAY", "EXCHANGE", "MUST PAY", "MUST RETIRE", "ESCAPE", "BID", "MOVE"}


@dataclass
class Comparison:
    """Races at one table, each ridden by both sides; `seen` counts phases and how the races ended."""

    players: int
    changes: dict[str, int]
    number: int
    seed: int = 0
    sheet: dict[str, Any] = field(default_factory=dict)
    seen: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self.rules = edition("arc_en_ciel").replace(**self.changes).table(self.players)
        self.games = Batch(rulebook, self.number, self.rules, SETTINGS)
        self.games.seed(self.seed)
        self.games.start()
        sheet = oracle_sheet(self.changes) | self.sheet
        chances = [RulebookChance(state, self.rules) for state in self.games.states]
        self.oracles = [Race(self.players, sheet, chance) for chance in chances]

    def run(self, player: Player) -> Comparison:
        """Ride all races to their ends, comparing at every decision."""
        lots = [random.Random(f"{self.seed} {game}") for game in range(self.number)]
        self._compare(range(self.number))
        going = [game for game, oracle in enumerate(self.oracles) if not oracle.over]
        while going:
            actions = np.full(self.number, SKIP, np.int64)
            for game in going:
                oracle = self.oracles[game]
                name = player(oracle, sorted(oracle.legal(), key=ACTIONS.__getitem__), lots[game])
                actions[game] = ACTIONS[name]
                self.seen[oracle.phase] += 1
                oracle.do(name)
            assert self.games.step(actions) == NO_GAME
            self._compare(going)
            self._compare_ends([game for game in going if self.oracles[game].over])
            going = [game for game in going if not self.oracles[game].over]
        return self

    def _compare(self, games: list[int] | range) -> None:
        facts = facts_of(self.games, self.rules)
        seats, phases = self.games.states["seat"].tolist(), self.games.states["phase"].tolist()
        for game in games:
            oracle = self.oracles[game]
            assert PHASES[PHASE_NAMES[phases[game]]] == oracle.phase, self._where(game, "phase")
            for name, fact in oracle.facts().items():
                assert facts[name][game] == fact, self._where(game, name)
            if oracle.over:
                continue
            assert seats[game] == oracle.seat, self._where(game, "seat")
            legal = {NAMES[action] for action in np.flatnonzero(self.games.buffers.action_mask[game])}
            assert legal == set(oracle.legal()), self._where(game, f"legal at {oracle.phase}")

    def _where(self, game: int, what: str) -> str:
        """Says which race differs, when, and in what."""
        changes = self.changes or "the usual sheet"
        return f"{self.players} players, {changes}, race {game}, turn {self.oracles[game].turn}: {what}"

    def _compare_ends(self, ended: list[int]) -> None:
        """Compare who has won the races that ended in the last step."""
        for game, shares in zip(ended, self.games.win_shares(ended).tolist() if ended else [], strict=True):
            oracle = self.oracles[game]
            assert shares == pytest.approx(oracle.shares()), self._where(game, "shares")
            winners = [seat for seat, share in enumerate(shares) if share > 0]
            assert winners == oracle.winners(), self._where(game, "winners")
            self.seen["races"] += 1
            self.seen[ENDINGS[int(self.games.states["ending"][game])]] += 1
            self.seen["shared"] += len(oracle.winners()) > 1


def facts_of(games: Batch, rules: Rules) -> dict[str, list[Any]]:
    """The public facts of all races in the words of the oracle, each a list with an entry for each race."""
    states, players = games.states, rules.players
    facts: dict[str, list[Any]] = {
        name: states[name].tolist()
        for name in ("lead", "escaped", "rainbow_lap", "no_supply", "square", "turn")
    }
    for name in ("energy", "off_board", "retired", "out"):
        facts[name] = states[name][:, :players].tolist()
    facts["owner"] = states["owner"][:, : rules.length].tolist()
    facts["peloton"] = [
        riders[:count]
        for riders, count in zip(states["peloton"].tolist(), states["riders"].tolist(), strict=True)
    ]
    facts["stacks"] = [dict(zip(SET_NAMES, left, strict=True)) for left in states["stacks"].tolist()]
    cards = states["jerseys"][:, :players].transpose(0, 2, 1).tolist()
    facts["jerseys"] = [dict(zip(SET_NAMES, held, strict=True)) for held in cards]
    facts["escape_points"] = [points_with_the_escape_under_way(state, rules) for state in states]
    return facts


def points_with_the_escape_under_way(state: Any, rules: Rules) -> list[int]:
    """The oracle counts a point as soon as the lead is long enough, the rulebook when the escape is over."""
    points: list[int] = state["escape_points"][: rules.players].tolist()
    if state["escaped"] >= 0:
        highest = int(state["highest_lead"])
        points[int(state["escaped"])] += (highest > rules.first_minute) + (highest > rules.second_minute)
    return points


@cache
def compared(players: int) -> Counter[str]:
    """Compare a race at each sheet, decision by decision; the players of the races take turns."""
    seen: Counter[str] = Counter()
    for number, changes in enumerate(SHEETS.values()):
        seen += Comparison(players, changes, 1, seed=number).run(RIDERS[(number + players) % 3]).seen
    return seen


@pytest.mark.parametrize("players", PLAYERS)
def test_the_oracle_agrees(players: int) -> None:
    assert compared(players)["races"] == len(SHEETS)


def test_the_races_show_every_decision_and_every_ending() -> None:
    """A decision that the comparison never meets is not compared."""
    seen = sum((compared(players) for players in PLAYERS), Counter())
    assert seen.keys() - {"shared", "races"} == DECISIONS | set(ENDINGS.values())
    assert seen["shared"] > 0


@pytest.mark.slow
@pytest.mark.parametrize("player", RIDERS)
@pytest.mark.parametrize("changes", SHEETS.values(), ids=list(SHEETS))
@pytest.mark.parametrize("players", PLAYERS)
def test_the_oracle_agrees_at_length(players: int, changes: dict[str, int], player: Player) -> None:
    """10,080 races in all."""
    seen = Comparison(players, changes, BATCH, seed=100).run(player).seen
    assert seen["races"] == BATCH
    assert seen.keys() >= DECISIONS - {"EXCHANGE", "MUST RETIRE", "MOVE"}


@pytest.mark.parametrize(
    ("changes", "oracle_has", "difference"),
    [
        ({}, {"lap_supply": 14}, "energy"),
        ({}, {"retirement": 14}, "energy"),
        ({}, {"prices": [(1, 1), (7, 2), (13, 3)]}, "energy"),
        ({}, {"polkas_for_a_rainbow": 9}, "jerseys"),
        ({}, {"greens_for_a_rainbow": 4}, "phase"),
        ({}, {"target_rainbows": 4}, "phase"),
        ({"combativity": 1}, {"combativity": 0}, "shares"),
    ],
    ids=str,
)
def test_a_difference_would_be_seen(
    changes: dict[str, int], oracle_has: dict[str, Any], difference: str
) -> None:
    """An oracle with other numbers does not agree."""
    comparison = Comparison(4, changes, 12, sheet=oracle_has)
    with pytest.raises(AssertionError, match=f"race .*turn .*: {difference}"):
        comparison.run(sober)


def test_both_sides_have_the_same_board_and_deck() -> None:
    """One from the sheet, one written by hand from the specification (4.11)."""
    rules = edition("arc_en_ciel").table(3)
    board = [(_oracle_kind(KIND_NAMES[place.kind]), place.number) for place in rules.board]
    # Each green square gives one jersey; the oracle's sheet states the number.
    assert [(kind, 1 if kind == "green" else number) for kind, number in board] == ARC_EN_CIEL["board"]
    deck = [((_oracle_kind(KIND_NAMES[card.kind]), card.number), card.copies) for card in rules.deck]
    assert Counter(dict(deck)) == Counter(dict(ARC_EN_CIEL["deck"]))
