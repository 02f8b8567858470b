"""Questions 2 to 6, in full games: rollouts, the chances in a match, the extension, what is learned."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from millebornes_env import vector_env
from millebornes_env._util.files import new_figure
from millebornes_env.arena.intervals import mean_interval
from millebornes_env.games.millebornes.actions import EXTEND, FINISH
from millebornes_env.games.millebornes.cards import DRIVING_ACE, RIGHT_OF_WAY
from research import coup_fourre, extensions, information, match_equity, safeties
from research.frame import Options, Question, answer
from research.parts import Part, Record
from research.positions import NOTHING, Decisions, Player, find_decisions, player, roll_out
from research.tallies import interval, merged, over, tallied


@pytest.fixture(scope="module")
def greedy() -> Player:
    return player("greedy", "parker")


@pytest.fixture(scope="module")
def extensions_found(greedy: Player) -> Decisions:
    return find_decisions(greedy, match_equity.is_extension, 40, 80, 5)


def test_an_action_that_ends_the_round_pays_what_the_score_sheet_says(
    greedy: Player, extensions_found: Decisions
) -> None:
    states = extensions_found.states
    actions = np.full((len(states), 1), FINISH)
    points = roll_out(greedy, states, actions, 3, 1)
    env = vector_env(len(states), "parker", episode="round", autoreset_mode="disabled")
    env.reset(seed=1)
    env.set_states(states)
    scores = env.step(actions[:, 0]).infos["final_score"]
    own, other = extensions_found.own, extensions_found.other
    rows = np.arange(len(states))
    expected = np.stack([scores[rows, own], scores[rows, other]], axis=1)
    assert (points == expected[:, np.newaxis, np.newaxis]).all()


def test_rollouts_depend_on_the_seed_alone(greedy: Player, extensions_found: Decisions) -> None:
    states, actions = extensions_found.states, np.tile([EXTEND, NOTHING], (len(extensions_found.states), 1))
    points = roll_out(greedy, states, actions, 4, 1)
    assert (points == roll_out(greedy, states, actions, 4, 1, threads=1)).all()
    assert (points != roll_out(greedy, states, actions, 4, 2)).any()
    assert (points[:, 1] == 0).all(), "there is no second action"
    assert (points[:, 0].std(axis=1) > 0).any(), "the redeals differ"


def test_tallies_of_parts_add_up() -> None:
    values = np.random.default_rng(1).normal(10.0, 3.0, 60)
    labels = (["a", "b", "b"] * 20, ["x", "y"] * 30)
    whole = merged([tallied(labels, values)])
    halves = merged(
        tallied([label[part] for label in labels], values[part]) for part in (slice(25), slice(25, 60))
    )
    assert halves.keys() == whole.keys()
    for group, tally in halves.items():
        assert tally == pytest.approx(whole[group])
    assert interval(over(halves)[()]) == pytest.approx(mean_interval(values), rel=1e-4)
    of_b = np.array(labels[0]) == "b"
    assert interval(over(halves, 0)["b",]).mean == pytest.approx(values[of_b].mean())


def test_holding_is_judged_against_plays_without_a_safety() -> None:
    champion = player("champion", "parker")
    result = find_decisions(champion, safeties.may_lay_a_safety, 30, 30, 2)
    hands = result.of(result.own, "hand")
    assert (hands[:, DRIVING_ACE : RIGHT_OF_WAY + 1].sum(axis=1) > 0).all()
    others = safeties.best_other_plays(champion, result.states)
    assert not np.isin(others[others >= 0] % 19, range(DRIVING_ACE, RIGHT_OF_WAY + 1)).any()
    held = (result.chosen < DRIVING_ACE) | (result.chosen > RIGHT_OF_WAY)
    assert held.any()
    assert (others[held] == result.chosen[held]).mean() > 0.9, (
        "the champion's own choice, unless it throws one away"
    )


def test_policies_differ_by_the_extension_alone(greedy: Player) -> None:
    assert extensions.compare(greedy, extensions.never, 40, 1) == (0.0, 0.0), (
        "both sides of a deal are the same"
    )
    mean, half_width = extensions.compare(greedy, extensions.always, 40, 1)
    assert mean != 0.0
    assert half_width > 0.0


@pytest.mark.parametrize(
    ("question", "options", "expected"),
    [
        (safeties.QUESTION, safeties.Args(positions=20), "Right of way"),
        (coup_fourre.QUESTION, coup_fourre.Args(agent="greedy"), "declined by the agent, %"),
        (match_equity.QUESTION, match_equity.Args(agent="greedy"), "4,500 : 4,000"),
        (extensions.QUESTION, extensions.Args(agent="greedy"), "threshold with hand"),
    ],
)
def test_questions_are_answered_and_drawn(
    question: Question[Any],
    options: Options,
    expected: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    records = answer(question, replace(options, quick=True, seeds=1, out=tmp_path))
    assert expected in capsys.readouterr().out
    assert all(record.part.seed == 1 for record in records)
    assert question.plot is not None
    figure = new_figure(8.0, 4.5)
    question.plot(figure, records)
    assert all(axes.has_data() for axes in figure.axes)


def test_information_is_told_of_searchers_and_critics() -> None:
    curves = {
        "what the policy sees": [(1000, -500.0), (2000, -250.0)],
        "all cards": [(1000, -200.0), (2000, -90.0)],
    }
    records = [
        Record(Part("critic", 1, {"critic": critic, "opponent": "greedy"}), {"curve": curve}, 1.0, 1.0)
        for critic, curve in curves.items()
    ]  # fmt: skip
    records += [
        Record(Part("search", 1, {"sees": sees}), {"leads": leads}, 1.0, 1.0)
        for sees, leads in (("what the seat sees", [10.0, 30.0]), ("all cards", [110.0, 150.0]))
    ]
    searchers, critics = information.tables(records)
    assert [row[2] for row in searchers.rows] == ["+20 ± 20", "+130 ± 39"]
    assert searchers.rows[1][3] == "+110 ± 20", "on the same deals"
    assert critics.title == "PPO: decisions to -250 points a round against `greedy`", "which both reach"
    assert [row[2] for row in critics.rows] == ["2", "1"]
    figure = new_figure(8.0, 4.5)
    information.plot(figure, records)
    assert all(axes.has_data() for axes in figure.axes)
