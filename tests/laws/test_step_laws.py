"""Laws of a decision and of a step: each can be broken."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from millebornes_env.games.millebornes.audit import NO_VIOLATION
from millebornes_env.games.millebornes.rules import PLAY_OUT, compiled_rules
from millebornes_env.games.millebornes.state import PLAY, ROUND_OVER
from millebornes_env.testing.audited_play import new_play, play_kernels
from millebornes_env.testing.millebornes import random_play, step_laws
from tests.each import each
from tests.laws.test_audit_laws import State, record, table_of, walk

begin, play_on, judge_decision, _, judge_step, judge_redeal, judge_engine = play_kernels(random_play)


def new_table(name: str = "parker", players: int = 3, steps: int = 40) -> tuple[Any, Any]:
    rules = table_of(name, players)
    play, table = new_play(random_play, 4, rules, 2), compiled_rules(rules)
    begin(play, table)
    play_on(play, table, steps)
    assert play.counts[-1] == 0
    return play, table


STEPS: dict[int, tuple[Callable[[State, int, State], bool], Callable[[State, State], Any]]] = {
    step_laws.WRONG_CARD_LEFT_HAND: (
        lambda before, action, after: action < 38 and after.phase == PLAY,
        lambda before, after: after.hand.__setitem__((2, slice(None)), np.roll(after.hand[2], 1)),
    ),
    step_laws.WRONG_NUMBER_DRAWN: (
        lambda before, action, after: 19 <= action < 38 and after.phase == PLAY and before.draw_pile > 2,
        lambda before, after: _draw_once_more(after),
    ),
    step_laws.WRONG_KM_GAIN: (
        lambda before, action, after: True,
        lambda before, after: after.km.__setitem__(0, after.km[0] + 25),
    ),
    step_laws.WRONG_TABLEAU_CHANGE: (
        lambda before, action, after: after.tableau[0, 2] > 0 and 19 <= action < 38,
        lambda before, after: after.tableau.__setitem__((0, 2), 0),
    ),
    step_laws.DISCARD_CAME_BACK: (
        lambda before, action, after: after.discard_pile[7] > 0 and action < 19,
        lambda before, after: after.discard_pile.__setitem__(7, after.discard_pile[7] - 1),
    ),
    step_laws.WRONG_SCORE_CHANGE: (
        lambda before, action, after: True,
        lambda before, after: after.score.__setitem__(0, after.score[0] + 50),
    ),
    step_laws.WRONG_NEXT_SEAT: (
        lambda before, action, after: 19 <= action < 38 and after.phase == PLAY,
        lambda before, after: after.__setattr__("seat", before.seat),
    ),
    step_laws.ROUND_TOO_LONG: (lambda before, action, after: True, lambda before, after: None),
    step_laws.OTHER_ROUND: (
        lambda before, action, after: True,
        lambda before, after: after.__setattr__("dealer", (after.dealer + 1) % 3),
    ),
}


def _draw_once_more(after: State) -> None:
    """Let the next seat draw a second card."""
    after.draw_pile -= 1
    after.hand[int(after.seat), 0] += 1


@each("law", STEPS)
def test_every_law_of_a_step_can_be_broken(law: int) -> None:
    fits, mutate = STEPS[law]
    table = compiled_rules(table_of("parker"))
    for before, action, after in walk("parker", 3)[1]:
        if not fits(before[0], action, after[0]):
            continue
        assert judge_step(record(before)[0], record(after)[0], table, action, 1) == NO_VIOLATION
        changed = after.copy()
        mutate(before[0], changed[0])
        steps = 10_000 if law == step_laws.ROUND_TOO_LONG else 1
        assert judge_step(record(before)[0], record(changed)[0], table, action, steps) == law
        return
    pytest.fail("no step fits")


def test_a_turn_after_the_last_can_be_found() -> None:
    """Play where hands are played out, judged by rules that end the round with the draw pile."""
    by = compiled_rules(table_of("dujardin_classic", when_pile_is_empty=1 - PLAY_OUT))
    result = {
        judge_step(record(before)[0], record(after)[0], by, action, 1)
        for before, action, after in walk("dujardin_classic", 3)[1]
    }
    assert {NO_VIOLATION, step_laws.ROUND_AFTER_LAST_TURN} == result


def test_every_law_of_a_decision_can_be_broken() -> None:
    play, table = new_table()
    state = play.states[0]
    assert judge_decision(state, table, play.mask, play.row, play.high) == NO_VIOLATION
    assert judge_redeal(play, table, 0) == NO_VIOLATION
    play.mask[19] ^= 1
    assert judge_redeal(play, table, 0) == step_laws.HIDDEN_CARDS_SHOW
    play.high[:] = 0
    assert judge_decision(state, table, play.mask, play.row, play.high) == step_laws.OBSERVATION_OUT_OF_BOUNDS
    play, table = new_table()
    judge_decision(play.states[0], table, play.mask, play.row, play.high)
    play.states["hidden"][0, 0] += 1
    play.states["deck"][0] = 0  # all that is to come is the same
    assert judge_redeal(play, table, 0) in (step_laws.HIDDEN_CARDS_SHOW, step_laws.REDEAL_IS_NO_GAME)
    play.states["phase"][1] = ROUND_OVER  # nothing can be done
    assert judge_decision(play.states[1], table, play.mask, play.row, play.high) == step_laws.NOTHING_LEGAL


def test_the_engine_is_looked_at() -> None:
    play, table = new_table(players=2)
    play.before[0] = play.states[0]
    judge_decision(play.states[0], table, play.mask, play.row, play.high)
    action = int(play.mask.argmax())
    play.states["phase"][0] = ROUND_OVER  # as if the step had ended the round
    assert judge_engine(play, table, 0, action) == step_laws.WRONG_END_OF_EPISODE
