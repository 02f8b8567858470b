"""Messages to participants hold nothing that their seats do not see."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from millebornes_env import VectorEnv, vector_env
from millebornes_env.games.millebornes.cards import NUM_CARD_TYPES
from millebornes_env.play.study import transitions
from millebornes_env.play.study.card_table import StudyTable
from millebornes_env.play.study.session import Session
from tests.play.study.served import play_out, study_of


def all_that_is_sent(table: StudyTable, seat: int) -> str:
    """Every word of a message that depends on the position."""
    targets = ("discard", None, *range(table._playing.rules.teams)) if table.to_act == seat else ()
    why = [table.why_not(card, target) for card in range(NUM_CARD_TYPES) for target in targets]
    return json.dumps([table.view_of(seat), table.log_for(seat), why])


def redealt(env: VectorEnv, table: StudyTable, seat: int, seed: int) -> Any:
    """The position with what the seat does not see dealt anew."""
    env.set_states(table._playing.states)
    return env.determinize(seat, seed).view(np.recarray)


@pytest.mark.parametrize(("edition", "players", "teams"), [("dujardin", 3, 3), ("parker", 4, 2)])
def test_messages_are_the_same_whatever_the_hidden_cards_are(
    edition: str, players: int, teams: int, tmp_path: Path
) -> None:
    design = {"edition": edition, "players": players, "teams": teams}
    session = Session(study_of(tmp_path, **design), 0)
    session.begin(0, 0)
    play_out(session)
    table = session._table
    assert table is not None
    game, others = table._playing, 0
    env = vector_env(1, edition, players=players, teams=teams, autoreset_mode="disabled")
    for at in range(0, len(game.plays), 11):
        game.go_to(at)
        acts = int(game.state.seat)
        for seat in (acts, (acts + 1) % players):
            if table.is_hidden_from(seat):
                continue
            before, true = all_that_is_sent(table, seat), game._states[at]
            game._states[at] = redealt(env, table, seat, at)
            others += int((game._states[at]["hand"] != true["hand"]).any())
            assert all_that_is_sent(table, seat) == before, (at, seat)
            game._states[at] = true
    assert others > 5  # the hidden cards were others


def test_every_hand_but_the_own_is_left_out(tmp_path: Path) -> None:
    session = Session(study_of(tmp_path, players=4, teams=2, seats=(1,)), 0)
    session.begin(1, 0)
    news = session.news(1)
    assert news is not None
    for step in news["steps"]:
        assert [seat["hand"] is not None for seat in step["seats"]] == [False, True, False, False]
    said = json.dumps(session.welcome(1))
    assert "stream" not in said
    assert "key:" not in said


SAFETY_IS_HELD = """\
edition: parker
table: 2 players
dealer: 1
battle 0: roll
battle 1: roll
hand 0: stop 25 50 75 100 200 roll
hand 1: {safety} 25 50 75 100 200
"""


def messages_of_an_attack(folder: Path, safety: str) -> list[Any]:
    """Return the attacker's messages after the opponent has let a Stop stand."""
    session = Session(study_of(folder, 2, seats=(0, 1)), 0)
    session.begin(0, 0)
    session.begin(1, 0)
    table = session._table
    assert table is not None
    table.load(SAFETY_IS_HELD.format(safety=safety))
    session._made.clear()
    for seat in (0, 1):
        session.news(seat)
        session._steps[seat] = [table.view_of(seat)]
    stop = next(one for one in table.position()["legal"] if "stop against" in one["notation"])
    heard = [session.news(0)]
    session.play(0, 0, stop["action"], None)
    if table.to_act == 1 and table.view_of(1)["asks"] == "coup_fourre":
        assert session.news(0) is None, "the attacker may not know that there is an answer"
        assert table.view_of(0)["to_act"] is None
        asked = session.news(1)
        assert asked is not None
        refuse = next(one for one in asked["steps"][-1]["legal"] if one["kind"] == "refuse")
        session.play(1, asked["decision"], refuse["action"], None)
    return [*heard, session.news(0)]


def test_a_safety_that_is_held_back_does_not_show(tmp_path: Path) -> None:
    held = messages_of_an_attack(tmp_path / "held", "right_of_way")
    none = messages_of_an_attack(tmp_path / "none", "roll")
    assert held[1]["steps"][-1]["seats"][1]["hand"] is None
    assert json.dumps(held) == json.dumps(none)


def test_a_person_may_do_what_the_environment_says(tmp_path: Path) -> None:
    session = Session(study_of(tmp_path, players=3, teams=3), 0)
    session.begin(0, 0)
    play_out(session)
    rows = list(transitions(tmp_path))
    lines = [json.loads(line) for line in session._journal.path.read_text().splitlines()]
    decisions = [line for line in lines if line["line"] == "decision"]
    assert len(rows) == len(decisions) > 10
    for row, line in zip(rows, decisions, strict=True):
        assert np.flatnonzero(row["action_mask"]).tolist() == line["legal_actions"]
        assert (row["seat"], row["action"]) == (line["seat"], line["action"])
