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
from typing import Any

import numpy as np
import pytest

from millebornes_env.engine.batch import NO_GAME, Batch, Settings
from millebornes_env.engine.kernels import DISABLED, SKIP
from millebornes_env.games.wielerspel import rulebook
from millebornes_env.games.wielerspel.editions import edition
from millebornes_env.games.wielerspel.sections import ObservationSpec
from millebornes_env.games.wielerspel.squares import KIND_NAMES
from millebornes_env.games.wielerspel.state import (
    BY_EXHAUSTION,
    BY_INNER_TRACK,
    BY_JERSEYS,
    BY_TURNS,
    PHASE_NAMES,
)
from tests.oracle.wielerspel.arc_en_ciel import ARC_EN_CIEL
from tests.oracle.wielerspel.beside import (
    ACTIONS,
    NAMES,
    PHASES,
    RulebookChance,
    facts_of,
    oracle_kind,
    oracle_sheet,
)
from tests.oracle.wielerspel.race import Race

SHEETS: dict[str, dict[str, int]] = {
    "usual": {},
    "five rainbows": {"target_rainbows": 5},
    "green and polka-dot besides": {"also_green": 1, "also_polka": 1},
    "combativity": {"combativity": 1},
    "hunger": {"energy": 20, "max_energy": 20, "servants": 3, "retirement_energy": 4, "combativity": 1},
    "few jerseys": {"jersey_cards": 3, "lap_supply": 9, "inner_track": 9, "max_turns": 100},
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


def wild(game: Race, legal: list[str], chance: random.Random) -> str:
    """Choose any legal action."""
    return chance.choice(legal)


def sober(game: Race, legal: list[str], chance: random.Random) -> str:
    """Bid at most 4 above the highest, and retire no servant without need."""
    bids = [name for name in legal if name.startswith("bid")]
    kept = [name for name in legal if name not in bids[CHEAP:] and not name.startswith("retire")]
    return chance.choice(kept or legal)


def escaper(game: Race, legal: list[str], chance: random.Random) -> str:
    """Ride away and stay away, whatever it costs."""
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
        facts = facts_of(self.games.states, self.rules)
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
    board = [(oracle_kind(KIND_NAMES[place.kind]), place.number) for place in rules.board]
    # Each green square gives one jersey; the oracle's sheet states the number.
    assert [(kind, 1 if kind == "green" else number) for kind, number in board] == ARC_EN_CIEL["board"]
    deck = [((oracle_kind(KIND_NAMES[card.kind]), card.number), card.copies) for card in rules.deck]
    assert Counter(dict(deck)) == Counter(dict(ARC_EN_CIEL["deck"]))
