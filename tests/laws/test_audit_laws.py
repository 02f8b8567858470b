"""The laws of the audit: real games break none, and every one can be broken."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from millebornes_env import edition
from millebornes_env.engine.batch import Batch
from millebornes_env.engine.kernels import NEXT_STEP
from millebornes_env.engine.numba.compiling import IS_COMPILED
from millebornes_env.games.millebornes import rulebook
from millebornes_env.games.millebornes.audit import (
    MESSAGES,
    NO_VIOLATION,
    SCRATCH_SIZE,
    first_violation,
    violations,
)
from millebornes_env.games.millebornes.cards import Card
from millebornes_env.games.millebornes.rules import Rules, compiled_rules
from millebornes_env.games.millebornes.state import CLAIM, EXTENSION, PLAY, ROUND_OVER, new_states
from millebornes_env.testing.audited_play import play_kernels
from millebornes_env.testing.millebornes import random_play
from millebornes_env.testing.millebornes.random_play import STYLES, WEIGHTS, settings_of
from millebornes_env.testing.millebornes.step_laws import ALL_MESSAGES
from tests.each import each

NONE = -1
ROLL, STOP, REPAIRS, END_OF_LIMIT, LIMIT = (
    int(card) for card in (Card.ROLL, Card.STOP, Card.REPAIRS, Card.END_OF_LIMIT, Card.SPEED_LIMIT)
)
RIGHT_OF_WAY, DRIVING_ACE = int(Card.RIGHT_OF_WAY), int(Card.DRIVING_ACE)
BATTLE = (*range(5, 9), *range(10, 14))

State = Any
Step = tuple[State, int, State]


def table_of(name: str, players: int = 3, **changes: int) -> Rules:
    return edition(name).table(players)._replace(**changes)


def record(states: Any) -> State:
    """The records as compiled code takes them."""
    return states.view(np.ndarray) if IS_COMPILED else states.view(np.recarray)


@cache
def walk(name: str, players: int) -> tuple[list[State], list[Step]]:
    """The games of mixed play of rounds, after every step, finished rounds included; and the steps."""
    rules = table_of(name, players)
    games = Batch(rulebook, 24, rules, settings_of(0)._replace(autoreset=NEXT_STEP))
    games.seed(3)
    games.start()
    chance = np.random.default_rng(3)
    styles = chance.integers(0, len(STYLES), (24, rules.teams))
    moments, steps = [], []
    for _ in range(420):
        before = games.states.copy()
        moments.append(before)
        mask = games.buffers.action_mask
        teams = games.buffers.agent_selection % rules.teams
        weights = WEIGHTS[styles[np.arange(24), teams], : mask.shape[1]] * mask
        weights[chance.random(24) < 0.1] = 1
        draws = chance.exponential(size=mask.shape) / np.where(mask == 1, weights + 1e-3, 1e-9)
        actions = draws.argmin(axis=1)
        games.step(actions)
        steps += [
            (before[game : game + 1], int(actions[game]), games.states[game : game + 1].copy())
            for game in range(24)
            if before["phase"][game] != ROUND_OVER
        ]
    return [moment[game : game + 1] for moment in moments for game in range(24)], steps


def violation_in(state: State, rules: Rules) -> int:
    scratch = np.zeros(SCRATCH_SIZE, np.int64)
    return play_kernels(random_play).judge_state(record(state)[0], compiled_rules(rules), scratch)


# Laws of a record -------------------------------------------------------------------------------------------


def put(name: str, value: int, *place: int) -> Callable[[State, Rules], bool]:
    """The mutation that writes one number."""

    def mutate(state: State, rules: Rules) -> bool:
        if place:
            state[name][place] = value
        else:
            state[name] = value
        return True

    return mutate


def when(condition: Callable[[State], Any], mutate: Callable[[State, Rules], Any]) -> Callable[..., bool]:
    """The mutation of those states only for which the condition holds."""

    def limited(state: State, rules: Rules) -> bool:
        return bool(condition(state)) and mutate(state, rules) is not False

    return limited


def change(function: Callable[[State], Any]) -> Callable[[State, Rules], bool]:
    """The mutation that the function makes; False from it says that it cannot."""
    return lambda state, rules: function(state) is not False


def phase(number: int) -> Callable[[State], Any]:
    return lambda state: state.phase == number


def add(name: str, amount: int, *place: int) -> Callable[[State, Rules], bool]:
    return lambda state, rules: put(name, int(state[name][place] if place else state[name]) + amount, *place)(
        state, rules
    )


def to_discards(state: State, seat: int) -> bool:
    """Discard a card of the seat's hand, without more ado."""
    if int(state.hand_count[seat]) < 2 or state.discard_top == NONE:
        return False
    card = int(state.hand[seat].argmax())
    state.hand[seat, card] -= 1
    state.hand_count[seat] -= 1
    state.hidden[card] -= 1
    state.discard_pile[card] += 1
    return True


def from_discards(card: int, team: int) -> Callable[[State], bool]:
    """Lay a discarded card on the team's tableau."""

    def mutate(state: State) -> bool:
        if state.discard_pile[card] == 0 or state.discard_top == card:
            return False
        state.discard_pile[card] -= 1
        state.tableau[team, card] += 1
        return True

    return mutate


def away(card: int, team: int) -> Callable[[State], bool]:
    """Discard a card of the team's tableau."""

    def mutate(state: State) -> bool:
        if state.tableau[team, card] == 0 or state.discard_top == NONE:
            return False
        state.tableau[team, card] -= 1
        state.discard_pile[card] += 1
        return True

    return mutate


def miss_a_draw(state: State) -> bool:
    """Somebody has just drawn the last card: let another seat's hand no longer be full."""
    return state.hand_count[state.seat] == 7 and to_discards(state, (int(state.seat) + 1) % 3)


def swap_streams(state: State) -> None:
    for name in ("stream_next", "stream_end"):
        state[name][[0, 1]] = state[name][[1, 0]]


def lacking(state: State, cards: tuple[int, ...]) -> int:
    return next(card for card in cards if state.tableau[0, card] == 0)


def other_hazard_below(state: State) -> bool:
    others = [card for card in range(5, 9) if state.tableau[0, card] and card != state.battle[0]]
    if not others or state.battle[0] not in range(5, 9):
        return False
    state.battle_below[0] = others[0]
    return True


def all_rolls(state: State) -> bool:
    lay = from_discards(ROLL, 0)
    return lay(state) and all(lay(state) for _ in range(int(state.discard_pile[ROLL])))


def without_cards(state: State) -> int | None:
    return next((seat for seat in range(3) if state.hand_count[seat] == 0), None)


def other_caller(state: State) -> bool:
    behind = [team for team in range(3) if state.km[team] < 700]
    if state.extension_team == NONE or not behind:
        return False
    state.extension_team = behind[0]
    return True


def stops_short(state: State) -> None:
    state.target = 25


def first_discard_free(state: State) -> int:
    return int(np.flatnonzero(np.asarray(state.discard_pile) == 0)[0])


empty, filled = (lambda state: state.draw_pile == 0), (lambda state: state.draw_pile > 0)
playing, asked, offered, over = (phase(number) for number in (PLAY, CLAIM, EXTENSION, ROUND_OVER))


def both(*conditions: Callable[[State], Any]) -> Callable[[State], bool]:
    return lambda state: all(condition(state) for condition in conditions)


Mutation = Callable[[State, Rules], bool]
Case = tuple[Mutation, str, dict[str, int]]


def case(mutate: Mutation, name: str = "parker", **changes: int) -> Case:
    """Return a case that breaks a law: the mutation, the edition, and other rules to judge by, if any."""
    return mutate, name, changes


NOTHING: Mutation = lambda state, rules: True  # noqa: E731

LAWS: dict[int, Case] = {
    violations.SEAT_OUT_OF_RANGE: case(put("seat", 3)),
    violations.DEALER_OUT_OF_RANGE: case(put("dealer", -1)),
    violations.PHASE_OUT_OF_RANGE: case(put("phase", 4)),
    violations.UNKNOWN_EXTENSION_TEAM: case(put("extension_team", 3)),
    violations.UNKNOWN_WINNER: case(put("winner", 3)),
    violations.UNKNOWN_PENDING_TEAM: case(put("pending_team", -2)),
    violations.UNKNOWN_ATTACKER: case(put("attacker", 3)),
    violations.UNKNOWN_PENDING_HAZARD: case(put("pending_hazard", 2)),
    violations.UNKNOWN_TARGET: case(put("target", 725)),
    violations.KEY_OUT_OF_RANGE: case(put("key", 2**32, 0)),
    violations.STREAM_OUTSIDE_DECK: case(put("stream_next", 107, 0)),
    violations.UNKNOWN_CARD_IN_DECK: case(put("deck", 19, 0)),
    violations.UNKNOWN_CARD_IN_DISCARD_TOP: case(put("discard_top", -2)),
    violations.NEGATIVE_COUNT_IN_HAND: case(put("hand", -1, 0, 0)),
    violations.NEGATIVE_COUNT_IN_TABLEAU: case(put("tableau", -1, 0, 0)),
    violations.NEGATIVE_COUNT_IN_DISCARD_PILE: case(put("discard_pile", -1, 3)),
    violations.NEGATIVE_COUNT_IN_HIDDEN: case(put("hidden", -1, 3)),
    violations.UNUSED_FIELD_NOT_ZERO: case(put("hand", 1, 7, 0)),
    violations.SCORE_OUT_OF_RANGE: case(put("score", -50, 1)),
    violations.HAND_COUNT_TOO_LARGE: case(put("hand_count", 8, 0)),
    violations.IMPOSSIBLE_CARD_IN_BATTLE: case(put("battle", LIMIT, 0)),
    violations.IMPOSSIBLE_CARD_IN_BATTLE_BELOW: case(put("battle_below", 0, 0)),
    violations.IMPOSSIBLE_CARD_IN_SPEED: case(put("speed", ROLL, 0)),
    violations.OPENING_OUT_OF_RANGE: case(put("opening", 3, 0)),
    violations.COUP_FOURRE_OUT_OF_RANGE: case(put("coup_fourre", 2, 0, 0)),
    violations.STREAMS_OVERLAP: case(
        when(
            lambda state: state.stream_end[0] > state.stream_next[0],
            lambda state, rules: put("stream_next", int(state.stream_next[0]), 1)(state, rules),
        )
    ),
    violations.EMPTY_SLOT_IN_STREAM: case(
        when(
            filled,
            lambda state, rules: put("deck", NONE, int(np.flatnonzero(state.deck >= 0)[0]))(state, rules),
        )
    ),
    violations.WRONG_DRAW_PILE: case(add("draw_pile", 1)),
    violations.WRONG_HIDDEN: case(add("hidden", 1, 0)),
    violations.WRONG_DECK: case(add("discard_pile", 1, 0)),
    violations.WRONG_HAND_COUNT: case(add("hand_count", -1, 0)),
    violations.DISCARD_TOP_NOT_IN_PILE: case(
        lambda state, rules: put("discard_top", first_discard_free(state))(state, rules)
    ),
    violations.BATTLE_NOT_IN_TABLEAU: case(
        lambda state, rules: put("battle", lacking(state, BATTLE), 0)(state, rules)
    ),
    violations.SPEED_NOT_IN_TABLEAU: case(
        when(lambda state: not state.tableau[0, LIMIT], put("speed", LIMIT, 0))
    ),
    violations.BATTLE_BELOW_NOT_IN_TABLEAU: case(
        lambda state, rules: put("battle_below", lacking(state, BATTLE), 0)(state, rules)
    ),
    violations.BATTLE_BELOW_WITHOUT_HAZARD: case(
        when(lambda state: state.battle[0] == ROLL, put("battle_below", ROLL, 0))
    ),
    violations.WRONG_KM: case(add("km", 25, 0)),
    violations.TOO_MANY_200S: case(NOTHING, max_200=0),
    violations.BEYOND_TARGET: case(change(stops_short), target=25),
    violations.HAZARD_DESPITE_SAFETY: case(NOTHING, roll_after_safety=0),
    violations.LIMIT_DESPITE_RIGHT_OF_WAY: case(
        when(lambda state: state.speed[0] == LIMIT, change(from_discards(RIGHT_OF_WAY, 0)))
    ),
    violations.COUP_FOURRE_WITHOUT_SAFETY: case(
        when(lambda state: not state.tableau[0, DRIVING_ACE], put("coup_fourre", 1, 0, 0))
    ),
    violations.CLAIM_WITHOUT_HAZARD: case(when(asked, put("phase", PLAY))),
    violations.WRONG_PARTIES_OF_CLAIM: case(when(playing, put("attacker", 0))),
    violations.SEAT_CANNOT_CLAIM: case(
        when(asked, lambda state, rules: put("seat", int(state.attacker))(state, rules))
    ),
    violations.TARGET_WITHOUT_EXTENSION: case(
        when(lambda state: state.extension_team == NONE, put("extension_team", 0))
    ),
    violations.EXTENSION_NOT_ALLOWED: case(when(playing, put("phase", EXTENSION))),
    violations.WINNER_WITHOUT_TRIP: case(when(playing, put("winner", 0))),
    violations.ROUND_GOES_ON_AFTER_TRIP: case(when(offered, put("phase", PLAY))),
    violations.NO_CARD_TO_PLAY: case(
        when(
            both(playing, empty, lambda state: without_cards(state) is not None),
            lambda state, rules: put("seat", without_cards(state) or 0)(state, rules),
        )
    ),
    violations.PENDING_HAZARD_NOT_ALLOWED: case(NOTHING, one_hazard_at_a_time=1),
    violations.STREAM_OUTSIDE_ITS_PART: case(change(swap_streams)),
    violations.DRAWN_CARD_IN_DECK: case(when(lambda state: state.stream_next[0] > 0, put("deck", 3, 0))),
    violations.WRONG_DISCARD_TOP: case(
        when(lambda state: state.discard_top != NONE, put("discard_top", NONE))
    ),
    violations.WRONG_HAND_SIZE: case(when(filled, change(lambda state: to_discards(state, 0)))),
    violations.HAND_TOO_LARGE_WITHOUT_PILE: case(when(both(empty, playing), change(miss_a_draw))),
    violations.HAND_SHRANK: case(
        when(both(empty, over), change(lambda state: min(to_discards(state, seat) for seat in range(3)))),
        "dutch",
    ),
    violations.WRONG_BATTLE: case(when(lambda state: state.battle[0] == ROLL, put("battle", NONE, 0))),
    violations.WRONG_BATTLE_BELOW: case(change(other_hazard_below)),
    violations.UNMATCHED_REMEDIES: case(
        when(lambda state: state.battle[0] == ROLL, change(away(REPAIRS, 0)))
    ),
    violations.WRONG_NUMBER_OF_ROLLS: case(change(all_rolls)),
    violations.UNMATCHED_LIMITS: case(change(from_discards(END_OF_LIMIT, 0))),
    violations.WRONG_OPENING: case(when(lambda state: state.battle[0] == ROLL, put("opening", 1, 0))),
    violations.KM_WITHOUT_START: case(NOTHING, "dujardin", start_needs_roll=1),
    violations.EXTENSION_BEFORE_TRIP: case(change(other_caller)),
    violations.ROUND_OVER_TOO_EARLY: case(when(both(playing, empty), put("phase", ROUND_OVER))),
    violations.TRIP_WITHOUT_WINNER: case(
        when(both(over, empty), put("winner", NONE)), "dutch", play_out_after_extension=0
    ),
    violations.SCORE_SHEET_TOO_EARLY: case(when(playing, put("score_sheet", 100, 0, 1))),
    violations.WRONG_SCORE_SHEET: case(when(over, add("score_sheet", 100, 0, 1))),
    violations.POINTS_NOT_COUNTED: case(put("score", 100, 0), "dujardin"),
    violations.MATCH_IS_DECIDED: case(when(playing, put("score", 5000, 0))),
}


def test_every_law_is_tried() -> None:
    assert sorted(LAWS) == list(range(1, len(MESSAGES)))
    assert len(set(ALL_MESSAGES)) == len(ALL_MESSAGES)
    assert ALL_MESSAGES[: len(MESSAGES)] == MESSAGES


@each("law", LAWS)
def test_every_law_can_be_broken(law: int) -> None:
    """A real game, changed in one respect, or judged by rules that differ in one, is found out for that."""
    mutate, name, changes = LAWS[law]
    rules = table_of(name)
    moments, _ = walk(name, 3)
    result = set()
    for moment in moments:
        state = moment.copy()
        if mutate(state[0], rules):
            what = violation_in(state, rules._replace(**changes))
            result.add(MESSAGES[what])
            if what == law:
                assert violation_in(moment, rules) == NO_VIOLATION
                violation = first_violation(np.concatenate([moment, state]), rules._replace(**changes))
                if law > violations.PENDING_HAZARD_NOT_ALLOWED:  # only unreachable
                    assert violation is None
                elif changes:
                    assert violation is not None
                else:
                    assert violation == (1, MESSAGES[law].format(last_seat=2, size=sum(rules.deck)))
                return
    pytest.fail(f"only found: {result}")


def garbage() -> Iterator[npt.NDArray[Any]]:
    """Records of chance, and real ones with a number of chance in some place."""
    chance = np.random.default_rng(5)
    size = new_states(1).dtype.itemsize
    for _ in range(100):
        yield np.frombuffer(chance.bytes(size), dtype=new_states(1).dtype)
    moments, _ = walk("parker", 3)
    for _ in range(400):
        bytes_ = np.frombuffer(moments[chance.integers(len(moments))].tobytes(), np.uint8).copy()
        bytes_[chance.integers(size)] = chance.integers(256)
        yield bytes_.view(new_states(1).dtype)


def test_garbage_is_judged_without_harm() -> None:
    """And all of it that is nothing but chance is refused."""
    refused = [first_violation(np.copy(states), table_of("parker")) is not None for states in garbage()]
    assert all(refused[:100])
    assert sum(refused) > 200
