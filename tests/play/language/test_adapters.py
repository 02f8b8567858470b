"""Kaggle's harness and TextArena: their calls, as their packages make them, without the packages.

Where it is installed, the same tests run with TextArena itself.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import random
import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import pytest

from millebornes_env.errors import PlayError
from millebornes_env.notation import read_position
from millebornes_env.play.language import kaggle, legal_moves, see, situation
from tests.play.language import stand_in
from tests.play.language.games import played, views


def asked(view: dict[str, Any], answers: list[str], tries: int = 3) -> tuple[int | None, list[str]]:
    """Play a turn as `core_harness.create_agent_fn` does, with a model that gives these answers."""
    observation = kaggle.observation(view, 0)
    moves = kaggle.get_legal_moves(observation)
    assert moves
    strings, ids = list(moves.values()), list(moves)
    prompts: list[str] = []
    response = action = None
    for _ in range(tries):
        prompts.append(
            kaggle.make_prompt(observation, [], previous_response=response, previous_action=action)
        )
        response = answers.pop(0)
        result = kaggle.parse_response(response, strings, observation=observation)
        if result.legal_action is not None:
            return ids[strings.index(result.legal_action)], prompts
        action = result.raw_action
    return None, prompts


def test_kaggles_loop_gets_a_legal_action() -> None:
    for view in views()[:20]:
        action, name = next(iter(legal_moves(view).items()))
        result, prompts = asked(view, ["Hm.", '{"move": "fly"}', json.dumps({"move": name.upper()})])
        assert result == action
        assert "It ended:\nHm.\n" in prompts[1]
        assert "Your move was: fly\n" in prompts[2]
        assert "YOUR LEGAL MOVES" not in prompts[0]
        assert prompts[1].startswith(prompts[0])


def test_kaggles_observation_holds_no_hidden_card() -> None:
    env, history = played("parker", 3, 3, seed=4, plays=30)
    seat = int(env.agent_selection[0])  # type: ignore[attr-defined]
    seen = kaggle.observation(see(situation(env), history, seat=seat), seat)
    redealt = situation(env)._replace(state=env.determinize(seat, seed=9))  # type: ignore[attr-defined]
    assert kaggle.observation(see(redealt, history, seat=seat), seat) == seen
    assert (seen["playerId"], seen["currentPlayer"], seen["isTerminal"]) == (seat, seat, False)
    assert seen["legalActions"] == list(env.legal_actions())  # type: ignore[attr-defined]
    assert kaggle.observation(see(situation(env), seat=0), 0, to_act=seat)["currentPlayer"] == seat


def test_what_is_no_observation_of_ours() -> None:
    for observation in (
        {},
        {"observationString": "{"},
        {"observationString": "[]"},
        {"observationString": None},
        {"observationString": "[" * 100_000},
        None,
    ):
        with pytest.raises(PlayError, match="observationString"):
            kaggle.get_legal_moves(observation)  # type: ignore[arg-type]


def test_what_is_no_text_is_unreadable_and_ends_no_match() -> None:
    """Chat interfaces give None for an empty or refused answer."""
    observation = kaggle.observation(views()[0], 0)
    for response in (None, "", 5, b"{}", ["25 km"], {"move": "25 km"}):
        result = kaggle.parse_response(response, None, observation=observation)  # type: ignore[arg-type]
        assert result == kaggle.ParseResult(None, None)
    again = kaggle.make_prompt(observation, [], previous_response="", previous_action=None)
    assert "Your answer cannot be read" in again
    assert asked(views()[0], [None, "", "25"])[1][2] == again  # type: ignore[list-item]


IS_INSTALLED = importlib.util.find_spec("textarena") is not None


@pytest.fixture(params=["stand-in", *(["textarena"] if IS_INSTALLED else [])])
def textarena(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    name = "millebornes_env.play.language.textarena"
    if request.param == "stand-in":
        for module, result in stand_in.modules().items():
            monkeypatch.setitem(sys.modules, module, result)
    monkeypatch.delitem(sys.modules, name, raising=False)
    yield importlib.import_module(name)
    sys.modules.pop(name, None)


def texts_of(observation: list[Any]) -> str:
    return "\n".join(message for _, message, _ in observation)


def legal_in(text: str) -> list[str]:
    return text.rpartition("YOUR LEGAL MOVES\n")[2].splitlines()


@pytest.mark.parametrize(
    ("players", "options"), [(2, {}), (3, {"edition": "dujardin"}), (6, {"edition": "dutch"})]
)
def test_textarena_plays_to_the_end(textarena: ModuleType, players: int, options: dict[str, str]) -> None:
    env = textarena.MilleBornesEnv(**options)
    random.seed(1)
    before = random.getstate()
    env.reset(num_players=players, seed=2)
    rng = random.Random(0)
    seen = dict.fromkeys(range(players), "")
    done, turns = False, 0
    while not done:
        player, observation = env.get_observation()
        seen[player] += texts_of(observation)
        move = rng.choice(legal_in(texts_of(observation)))
        answer = rng.choice(
            [f"My hand is secret {player}. [{move}]", json.dumps({"move": move}), f"[{move.upper()}]"]
        )
        done, _ = env.step(action=answer)
        turns += 1
    assert random.getstate() == before
    rewards, _ = env.close()
    assert set(rewards) == set(range(players))
    assert sum(rewards.values()) == pytest.approx(0)
    assert turns > 20
    for player, text in seen.items():
        assert text.count("THE GAME") == 1
        for other in range(players):
            assert other == player or f"secret {other}" not in text
    assert not any("pass" in line for line in seen[0].splitlines() if line.startswith("opponent"))


@pytest.mark.parametrize("players", [2, 3])
def test_textarena_ends_after_two_illegal_moves(textarena: ModuleType, players: int) -> None:
    env = textarena.MilleBornesEnv()
    env.reset(num_players=players, seed=2)
    player, _ = env.get_observation()
    assert env.step(action="[fly]")[0] is False
    again, observation = env.get_observation()
    assert again == player
    assert "There is no move 'fly' in this game" in texts_of(observation)
    assert env.step(action="[fly]")[0] is True
    rewards, _ = env.close()
    assert rewards[player] == -1
    assert sum(rewards.values()) == pytest.approx(0)


def test_a_legal_move_forgives_an_illegal_one(textarena: ModuleType) -> None:
    env = textarena.MilleBornesEnv()
    env.reset(num_players=2, seed=2)
    for _ in range(3):
        _, observation = env.get_observation()
        move = legal_in(texts_of(observation))[-1]
        assert env.step(action="[fly]")[0] is False
        env.get_observation()
        assert env.step(action=f"[{move}]")[0] is False


def test_the_last_bracket_counts(textarena: ModuleType) -> None:
    view = see(read_position("battle 0: roll\nhand 0: 25 50 ...\nhand 1: 25 ..."))
    assert textarena.read_answer("[50 km]? No: [25 km]", view).move == "25 km"
    assert textarena.read_answer("[25 km or 50 km]", view).action is None
    assert textarena.read_answer('[{"move": "25 km"}]', view).move == "25 km"
    assert textarena.read_answer("25 km", view).move == "25 km"
    assert textarena.read_answer("<think>[50 km]? No.</think> [25 km]", view).move == "25 km"
    assert "cut off" in textarena.read_answer("[THINK] [50 km]? No", view).reason
    assert textarena.read_answer(None, view).action is None


def test_textarena_knows_the_game_by_its_name(textarena: ModuleType) -> None:
    textarena.register()
    textarena.register()
    registry = sys.modules["textarena.envs.registration"].ENV_REGISTRY  # type: ignore[attr-defined]
    assert textarena.ID in registry


def test_without_textarena_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "textarena", None)
    monkeypatch.delitem(sys.modules, "millebornes_env.play.language.textarena", raising=False)
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'millebornes-env\[textarena\]'"):
        importlib.import_module("millebornes_env.play.language.textarena")
