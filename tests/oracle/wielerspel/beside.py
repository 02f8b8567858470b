"""The oracle beside a race: the same lots, dice and cards, and what both say of a position.

Every test of a rule that uses `tests.race_support.Race` tests both implementations by this.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

from millebornes_env.engine.numba.compiling import plain
from millebornes_env.games.wielerspel import dice
from millebornes_env.games.wielerspel.actions import NUM_ACTIONS, action_name
from millebornes_env.games.wielerspel.rules import MAX_DECK, Rules, rules_array
from millebornes_env.games.wielerspel.squares import KIND_NAMES
from millebornes_env.games.wielerspel.state import PHASE_NAMES, SET_NAMES
from tests.oracle.wielerspel.arc_en_ciel import ARC_EN_CIEL, Card
from tests.oracle.wielerspel.race import Race

NAMES = [action_name(action) for action in range(NUM_ACTIONS)]
ACTIONS = {name: action for action, name in enumerate(NAMES)}
PHASES = {"race over": "OVER"} | {name: name.upper() for name in PHASE_NAMES if name != "race over"}
ORACLE_KINDS = {"event_for_all": "yellow event", "polka_dot": "polka"}
"""Names that differ in the oracle, which writes blanks for underlines."""

ORACLE_NAMES = {
    "retirement_energy": "retirement",
    "greens_for_rainbow": "greens_for_a_rainbow",
    "polka_for_rainbow": "polkas_for_a_rainbow",
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
        return [(oracle_kind(KIND_NAMES[card.kind]), card.number) for card in cards]


def oracle_kind(kind: str) -> str:
    return ORACLE_KINDS.get(kind, kind.replace("_", " "))


def oracle_sheet(changes: dict[str, int]) -> dict[str, Any]:
    """Return the oracle's sheet with the same numbers changed; its board and deck are written by hand."""
    return ARC_EN_CIEL | {ORACLE_NAMES.get(name, name): value for name, value in changes.items()}


def facts_of(states: Any, rules: Rules) -> dict[str, list[Any]]:
    """Return the public facts of all races in the words of the oracle, each with an entry for each race."""
    players = rules.players
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
    """Count points as the oracle does: as soon as the lead is long enough, not when the escape is over."""
    points: list[int] = state["escape_points"][: rules.players].tolist()
    if state["escaped"] >= 0:
        highest = int(state["highest_lead"])
        points[int(state["escaped"])] += (highest > rules.first_minute) + (highest > rules.second_minute)
    return points


class TurnOfRulebook(RulebookChance):
    """The dice of a turn, and the cards that are left in the record."""

    def __init__(self, state: Any, rules: Rules) -> None:
        super().__init__(state, rules)
        self.shuffles = int(state["shuffles"])
        self.left = [rules.deck[int(card)] for card in state["deck"][int(state["deck_next"]) :] if card >= 0]

    def deck(self, shuffle_number: int) -> list[Card]:
        if shuffle_number > 0:
            return super().deck(self.shuffles + shuffle_number)
        return [(oracle_kind(KIND_NAMES[card.kind]), card.number) for card in self.left]


class OracleTurn:
    """One turn of the oracle, from the position in which a test begins it; the race is over after it (W9)."""

    def __init__(self, state: Any, rules: Rules, changes: dict[str, int]) -> None:
        self.rules = rules
        facts = {name: values[0] for name, values in facts_of(state[None], rules).items()}
        sheet = oracle_sheet(changes) | {"max_turns": facts["turn"] + 1}
        self.race = Race(rules.players, sheet, TurnOfRulebook(state, rules), facts)

    def check(self, state: Any, legal: set[str], winners: list[int]) -> None:
        """Fail unless the record agrees: who decides what, what is legal, every public fact, the winners."""
        phase = PHASE_NAMES[state["phase"]]
        assert (PHASES[phase] if phase != "riding" else "OVER") == self.race.phase
        if not self.race.over:
            assert (int(state["seat"]), legal) == (self.race.seat, set(self.race.legal()))
        for name, fact in self.race.facts().items():
            if name != "turn" or not self.race.over:
                assert facts_of(state[None], self.rules)[name][0] == fact, f"(rulebook, oracle): {name}"
        if phase == "race over":
            assert winners == self.race.winners()


def knows(changes: dict[str, int], state: Any, rules: Rules) -> bool:
    """Return True if the oracle has a number for each of these and can begin a turn in this position."""
    names = {ORACLE_NAMES.get(name, name) for name in changes} - {"max_energy"}
    return (
        names <= ARC_EN_CIEL.keys()
        and rules.energy == rules.max_energy
        and state["highest_lead"] == state["lead"]
    )
