"""The laws of a decision and of a step of a race: each can be broken; the audited play breaks none."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from millebornes_env.engine.laws import mask_is_what_is_legal
from millebornes_env.engine.numba.compiling import IS_COMPILED, plain
from millebornes_env.games.wielerspel import legality
from millebornes_env.games.wielerspel.actions import ESCAPE as ESCAPE_ACTION
from millebornes_env.games.wielerspel.actions import EXCHANGE_GREEN, PASS, RETIRE, bid_action
from millebornes_env.games.wielerspel.audit import MESSAGES, NO_VIOLATION
from millebornes_env.games.wielerspel.state import RACE_OVER
from millebornes_env.testing.audited_play import FOUND, Play, new_play, play_kernels, rewards_are_right
from tests.each import each
from tests.laws import audit as script
from tests.laws.wielerspel import random_play, step_laws
from tests.laws.wielerspel.step_laws import ALL_MESSAGES, bids_can_be_paid, is_a_choice
from tests.laws.wielerspel.test_audit import at, put
from tests.race_support import FLAT_2, Race

Change = Callable[[Any], object]

begin, play_on, judge_decision, _, judge_step, judge_redeal, judge_engine = play_kernels(random_play)


def auction() -> Race:
    """Seat 3 is away and asked first whether it bids for square 1."""
    race = Race(players=4).servants(1, 4, 5).jerseys(2, green=1).retired(0, 1)
    race.state.escape_points[0] = 1
    return race.away(3, 5).land_on(FLAT_2).do("pay")


# Steps -----------------------------------------------------------------------------------------------------

BROKEN: list[tuple[str, int, Change]] = [
    ("OTHER_RACE", PASS, at("key", 0, 7)),
    ("OTHER_RACE", PASS, put(episode=3)),
    ("TURN_WENT_BACK", PASS, put(turn=-1)),
    ("TURN_WENT_BACK", PASS, put(stage=3)),
    ("TURN_WENT_BACK", PASS, put(shuffles=-1)),
    ("CAME_BACK", PASS, at("retired", 0, 0)),
    ("CAME_BACK", PASS, at("escape_points", 0, 0)),
    ("WRONG_RETIREMENT", RETIRE, put()),
    ("JERSEYS_LOST", PASS, at("jerseys", (2, 1), 0)),
    ("JERSEYS_LOST", EXCHANGE_GREEN, at("jerseys", (2, 1), 0)),
    ("JERSEYS_LOST", EXCHANGE_GREEN, put()),
    ("LEAD_WITHOUT_ESCAPE", PASS, put(lead=6)),
    ("LEAD_WITHOUT_ESCAPE", PASS, put(escaped=1)),
    ("LEAD_WITHOUT_ESCAPE", ESCAPE_ACTION, put(lead=12)),
    ("ENERGY_FROM_NOWHERE", PASS, at("energy", 2, 60)),
    ("WRONG_BID", PASS, put(highest_bid=2)),
    ("WRONG_BID", bid_action(3), put(highest_bid=2, highest_bidder=3)),
    ("WRONG_BID", bid_action(3), put(highest_bid=3, highest_bidder=1)),
]


@each(("name", "action", "change"), BROKEN)
def test_a_broken_law_of_a_step_is_found(name: str, action: int, change: Change) -> None:
    """The step is to another race, which differs by no more than the law forbids."""
    race, later = auction(), auction()
    change(later.state)
    result = judge_step(race.states[0], later.states[0], race.record, action, 1)
    assert ALL_MESSAGES[result] == ALL_MESSAGES[getattr(step_laws, name)]


@each("words", ["pass", "bid 4", "retire"])
def test_a_step_by_the_rules_breaks_no_law(words: str) -> None:
    race, later = auction(), auction()
    later.do(words)
    action = {"pass": PASS, "bid 4": bid_action(4), "retire": RETIRE}[words]
    assert judge_step(race.states[0], later.states[0], race.record, action, 1) == NO_VIOLATION


# Decisions -------------------------------------------------------------------------------------------------


def played() -> tuple[Play, Race]:
    """Return a play whose one race is in the auction."""
    race = auction()
    play = new_play(random_play, 1, race.rules, 1)
    begin(play, race.record)
    play.states[0] = race.states[0]
    play.before[0] = race.states[0]
    assert judge_decision(play.states[0], race.record, play.mask, play.row, play.high) == NO_VIOLATION
    return play, race


def test_a_wrong_mask_is_found() -> None:
    play, race = played()
    agrees = plain(mask_is_what_is_legal)
    assert agrees(legality, play.states[0], race.record, play.mask)
    play.mask[bid_action(60)] = 1
    assert not agrees(legality, play.states[0], race.record, play.mask)


def test_a_bid_above_the_energy_or_below_the_highest_is_found() -> None:
    """003:121 and W21."""
    play, _ = played()
    assert bids_can_be_paid(play.states[0], play.mask)
    play.mask[bid_action(int(play.states[0]["energy"][3]) + 1)] = 1
    assert not bids_can_be_paid(play.states[0], play.mask)
    play, _ = played()
    play.states["highest_bid"][0] = 1
    assert not bids_can_be_paid(play.states[0], play.mask)


def test_a_seat_without_a_choice_is_found() -> None:
    """W11."""
    play, race = played()
    assert is_a_choice(play.mask)
    play.states["energy"][0, 3], play.states["retired"][0, 3], play.states["off_board"][0, 3] = 0, 5, 1
    result = judge_decision(play.states[0], race.record, play.mask, play.row, play.high)
    assert result == step_laws.NO_CHOICE


def test_a_number_out_of_bounds_is_found() -> None:
    play, race = played()
    play.high[:] = 0
    result = judge_decision(play.states[0], race.record, play.mask, play.row, play.high)
    assert result == step_laws.OBSERVATION_OUT_OF_BOUNDS


def test_what_the_hidden_cards_would_change_is_found() -> None:
    play, race = played()
    assert judge_redeal(play, race.record, 0) == NO_VIOLATION
    play.row[0] += 1
    assert judge_redeal(play, race.record, 0) == step_laws.HIDDEN_CARDS_SHOW


def test_a_redeal_that_makes_no_race_is_found() -> None:
    """A die that nobody sees shows what it cannot."""
    play, race = played()
    play.states["yellow"][0] = 7
    assert judge_redeal(play, race.record, 0) == step_laws.REDEAL_IS_NO_GAME


def test_wrong_rewards_are_found() -> None:
    play, race = played()
    for rewards, is_over, is_right in (
        ([0, 0, 0, 0], False, True),
        ([1, -1, 0, 0], False, False),
        ([1, -1 / 3, -1 / 3, -1 / 3], True, True),
        ([1, 0, 0, 0], True, False),
    ):
        play.buffers.rewards[0] = rewards
        assert rewards_are_right(play.buffers, race.record, is_over) == is_right


def test_an_episode_that_the_engine_ends_too_early_or_too_late_is_found() -> None:
    play, race = played()
    assert judge_engine(play, race.record, 0, PASS) == NO_VIOLATION
    play.states["phase"][0] = RACE_OVER  # as if the step had ended the race
    assert judge_engine(play, race.record, 0, PASS) == step_laws.WRONG_END_OF_EPISODE


def test_every_law_is_broken_here() -> None:
    """Those of decisions and races by a test each, above."""
    others = {
        step_laws.MASK_IS_NOT_LEGALITY,
        step_laws.NO_CHOICE,
        step_laws.BID_ABOVE_ENERGY,
        step_laws.OBSERVATION_OUT_OF_BOUNDS,
        step_laws.HIDDEN_CARDS_SHOW,
        step_laws.REDEAL_IS_NO_GAME,
        step_laws.WRONG_REWARDS,
        step_laws.WRONG_END_OF_EPISODE,
    }
    of_steps = {getattr(step_laws, name) for name, *_ in BROKEN}
    assert of_steps | others == set(range(len(MESSAGES), len(ALL_MESSAGES)))


# The audited play ------------------------------------------------------------------------------------------


def test_everything_happens_at_every_table_and_breaks_no_law(tmp_path: Path) -> None:
    """2 to 6 players and the options of the text: all ways to end a race, all kinds of decisions."""
    steps = 35 * (10_000 if IS_COMPILED else 20)
    report = script.audit(script.Args(steps=steps, seed=5, game="wielerspel", out=tmp_path / "audit.json"))
    assert len(report["tables"]) == 5 * 7
    assert report["total"]["violations"] == 0
    assert report["total"]["steps"] >= steps
    if IS_COMPILED:
        assert min(value for name, value in report["total"].items() if name != "violations") > 0
        for row in report["tables"]:
            assert min(row[name] for name in ("races", "escapes", "bids", "retirements", "shuffles")) > 0


def test_a_violation_is_counted_and_the_rest_is_played() -> None:
    """An energy that nobody can have, put into one race; the play goes on with another one."""
    race = Race(players=3)
    play = new_play(random_play, 2, race.rules, 1)
    begin(play, race.record)
    play_on(play, race.record, 20)
    play.states["energy"][1, 0] += 100
    play_on(play, race.record, 20)
    counts = dict(zip(random_play.COUNTS, play.counts.tolist(), strict=True))
    assert counts["violations"] == 1
    assert counts["steps"] >= 79
    noted = dict(zip(FOUND, play.found[0].tolist(), strict=True))
    assert noted["game"] == 1
    assert noted["step"] in (20, 21)
    assert np.asarray(play.saved)["energy"][0, 0] > 60
