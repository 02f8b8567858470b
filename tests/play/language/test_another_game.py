"""A game of one's own gets prompts and answers by its hook `play.words`, and nothing else."""

from __future__ import annotations

import json
import types
from collections.abc import Iterator
from typing import Any

import pytest

from millebornes_env import vector_env
from millebornes_env.games.registry import GAMES, Game, SheetOfTables, register_game
from millebornes_env.play.language import parse, prompt, see, situation
from tests.engine import dice_race

NAMES = ["roll", "use the boost"]


def table(state: Any, rules: Any, seat: int) -> dict[str, Any]:
    places = range(rules.players)
    return {
        "place": None if state.over else (int(state.seat) - seat) % rules.players,
        "boost": int(state.boost[seat]),
        "km": [int(state.km[(seat + place) % rules.players]) for place in places],
    }


def words() -> types.ModuleType:
    module = types.ModuleType("words_of_dice_race")
    vars(module).update(
        SYNONYMS={"throw": "roll"},
        table=table,
        table_text=lambda view: (
            f"You are at {view['table']['km'][0]} km. Your boost: {view['table']['boost']}."
        ),
        rules_text=lambda view: f"First to {view['rules']['goal']} km wins.",
        rules_of=lambda view: dice_race.Rules(**view["rules"]),
        move_names=lambda rules: NAMES,
        other_names=lambda rules: [(), ("boost",)],
        line_of_play=lambda rules, place, action: (
            f"{'you' if place == 0 else f'seat +{place}'}: {NAMES[action]}"
        ),
        reason_against=lambda view, action: "it is used up",
    )
    return module


@pytest.fixture(autouse=True)
def _race(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(dice_race, "ObservationSpec", dice_race.Spec, raising=False)
    before = dict(GAMES)
    sheets = [SheetOfTables("dice_race", "dice_race", [dice_race.Rules(2, 2), dice_race.Rules(3, 3)])]
    register_game(Game(name="dice_race", rulebook=dice_race, sheets=sheets, hooks={"play.words": words()}))
    yield
    GAMES.clear()
    GAMES.update(before)


def test_another_game_is_asked_and_answered() -> None:
    env = vector_env(1, "dice_race", players=3)
    env.reset(seed=1)
    history = []
    for action in (dice_race.BOOST, dice_race.ROLL):
        history.append((int(env.agent_selection[0]), action))
        env.step([action])
    view = see(situation(env), history)
    text = prompt(json.loads(json.dumps(view)))
    assert text.startswith("First to 20 km wins.")
    assert "seat +1: use the boost\nseat +2: roll\n" in text
    assert "YOUR LEGAL MOVES\nroll\nuse the boost\n" in text
    assert parse('{"move": "Throw!"}', view).action == dice_race.ROLL
    assert parse('{"move": "BOOST"}', view).action == dice_race.BOOST
    env.step([dice_race.ROLL])
    used = see(situation(env))
    assert parse('{"move": "boost"}', used).reason == "'use the boost' is not legal now: it is used up."


def test_its_hidden_numbers_are_hidden() -> None:
    env = vector_env(1, "dice_race", players=3)
    env.reset(seed=1)
    own = situation(env)
    redealt = own._replace(state=env.determinize(0, seed=5))
    assert redealt.state["boost"].tolist() != own.state["boost"].tolist()
    assert see(redealt, seat=0) == see(own, seat=0)
