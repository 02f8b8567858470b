"""A language model plays in the arena: a function from prompt to answer is all that it needs."""

from __future__ import annotations

import json

import numpy as np
import pytest

from millebornes_env.arena.match import MatchConfig, play
from millebornes_env.errors import AgentError, AgentFaultError, OptionError
from millebornes_env.play.language.agent import LanguageModelAgent

CONFIG = MatchConfig("mini7", episode="round", seed=3)


def moves_in(question: str) -> list[str]:
    return question.partition("YOUR LEGAL MOVES\n")[2].partition("\n\n")[0].splitlines()


def test_a_model_plays_a_match() -> None:
    questions: list[str] = []

    def first(question: str) -> str:
        questions.append(question)
        return f"<think>{moves_in(question)[-1]}?</think>" + json.dumps({"move": moves_in(question)[0]})

    agent = LanguageModelAgent(CONFIG.table(), call=first)
    outcome = play([agent, "random"], CONFIG, deals=2)
    assert outcome.points.shape == (2, 2, 2)
    assert (agent.calls, agent.random_moves) == (len(questions), 0)
    assert len(questions) > 4
    assert all(moves_in(question) and "WHAT WAS PLAYED" not in question for question in questions)


def test_answers_that_cannot_be_read_are_asked_again_and_end_no_match() -> None:
    answers: list[str | None] = [None, "", '{"move": "fly"}']
    questions: list[str] = []

    def wrong(question: str) -> str | None:
        questions.append(question)
        return answers[(len(questions) - 1) % len(answers)]

    agents = [LanguageModelAgent(CONFIG.table(), seed=seed, call=wrong) for seed in (1, 1)]
    outcomes = [play([agent, "random"], CONFIG, deals=1) for agent in agents]
    np.testing.assert_array_equal(outcomes[0].points, outcomes[1].points)
    assert agents[0].calls == 3 * agents[0].random_moves > 0
    assert "YOUR LAST ANSWER" not in questions[0]
    assert "Your answer cannot be read" in questions[1]
    assert "YOUR LAST ANSWER" not in questions[3]


def test_an_error_of_the_model_names_the_decision() -> None:
    def broken(question: str) -> str:
        raise TimeoutError("no answer in 60 s")

    agent = LanguageModelAgent(CONFIG.table(), call=broken)
    with pytest.raises(AgentFaultError, match=r"raised TimeoutError: no answer in 60 s \(in deal 0"):
        play([agent, "random"], CONFIG, deals=1)


def test_what_is_no_model_is_refused() -> None:
    with pytest.raises(AgentError, match="call is 5; it must be a function"):
        LanguageModelAgent(CONFIG.table(), call=5)  # type: ignore[arg-type]
    with pytest.raises(AgentError, match="tries is 0; it must be 1 to 100"):
        LanguageModelAgent(CONFIG.table(), call=str, tries=0)
    with pytest.raises(OptionError, match="has no words for language models"):
        LanguageModelAgent(MatchConfig("arc_en_ciel").table(), call=str)
    agent = LanguageModelAgent(CONFIG.table(), call=str)
    with pytest.raises(AgentError, match="needs game states, not observations"):
        agent.act(np.zeros((1, 1), np.int8), np.ones((1, 1), np.int8))
