"""`check_agent`: our agents pass, and every fault that an agent can have is found and named."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import pytest

from millebornes_env import agents, vector_env
from millebornes_env.agents.protocol import game_of
from millebornes_env.errors import ConformanceError, MilleBornesError, OptionError
from millebornes_env.games import registry as games
from millebornes_env.games.registry import DEFAULT_GAME
from millebornes_env.testing import check_agent
from tests.agents.policies import network_for, write_run
from tests.testing import faulty_agents as faulty

ROOT = Path(__file__).parents[2]
QUICK = {"players": 2, "games": 6, "decisions": 40}
ALONE = {"policy", "human", "search", "champion", "equilibrium"}
"""A policy needs a run folder, `human` a person; the others are tried by themselves."""


@pytest.mark.parametrize("spec", [name for name in agents.AGENTS if name not in ALONE])
def test_our_agents_pass(spec: str) -> None:
    game = game_of(agents.AGENTS[spec]) or DEFAULT_GAME
    edition = "parker" if game == DEFAULT_GAME else games.game(game).editions[0]
    check_agent(spec, edition, games=3, decisions=30)


def test_agents_of_a_race_are_checked_too() -> None:
    """At all tables of the sheet; what a compiled agent looks at must not be the order of the cards."""
    check_agent("random", "arc_en_ciel", games=4, decisions=60)
    check_agent(faulty.FirstLegal, "arc_en_ciel", players=5, games=4, decisions=60, padded=True)
    with pytest.raises(ConformanceError, match=r"'peeks' chose .* after the cards that its seat cannot see"):
        check_agent(faulty.SeesNextChanceCard, "arc_en_ciel", players=3, games=12, decisions=60)
    with pytest.raises(ConformanceError, match=r"is illegal; legal were .* \[arc_en_ciel, 2 players"):
        check_agent(faulty.Illegal, "arc_en_ciel", players=2, games=4, decisions=60)


@pytest.mark.parametrize("edition", ["dutch", "dujardin"])
def test_they_pass_with_other_rules_and_observations(edition: str) -> None:
    check_agent("strategist", edition, games=4, decisions=40, observe_rules=True, padded=True)


def test_the_equilibrium_the_champion_and_search_pass() -> None:
    check_agent("equilibrium", "mini7-v0", games=3, decisions=30)
    check_agent("champion", **QUICK)
    check_agent("search:rollout=greedy,rollouts=4,threads=1", players=3, games=2, decisions=12)


def test_the_table_must_be_one_that_the_agent_plays_at() -> None:
    with pytest.raises(
        ConformanceError, match=r"cannot be made for arc_en_ciel, 3 players in 3 teams: .*players="
    ):
        check_agent("champion", "arc_en_ciel", players=3)


@pytest.mark.parametrize(
    "agent",
    [faulty.FirstLegal, faulty.Drawing, faulty.Remembering, faulty.SeesStates, faulty.SaysThatItPeeks],
)
def test_agents_of_ones_own_pass(agent: Any) -> None:
    check_agent(agent, **QUICK)


def test_the_example_of_an_agent_passes() -> None:
    """The file that people copy."""
    check_agent(f"{ROOT / 'agents' / 'cautious.py'}:Cautious", games=4, decisions=40)


def test_an_agent_that_was_made_passes_and_is_left_alone() -> None:
    env = vector_env(2)
    agent = faulty.Remembering(agents.Table.of(env))
    check_agent(agent, **QUICK)
    assert agent.decisions == {}
    check_agent(agent, players=2, games=1, decisions=10)
    check_agent(partial(faulty.FirstLegal), **QUICK)


def test_an_agent_that_was_made_may_draw_random_numbers() -> None:
    """Its copies have one seed: that they draw is found by asking some of them more often."""
    table = agents.Table.of(vector_env(2))
    for drawing in (faulty.Drawing(table), agents.make("random", table, 0)):
        check_agent(drawing, players=2, games=4, decisions=8)
    with pytest.raises(ConformanceError, match="rows must not influence each other"):
        check_agent(faulty.RowsTogether(table), **QUICK)


def test_an_agent_is_named_as_on_a_command_line(tmp_path: Path) -> None:
    """By the file of its class, with options, or by the run folder of a policy."""
    file = tmp_path / "mine.py"
    file.write_text(
        "class Mine:\n"
        "    name = 'mine'\n"
        "    def __init__(self, table, seed=0, nothing: int = -1):\n"
        "        self.nothing = nothing\n"
        "    def act(self, observations, action_masks):\n"
        "        actions = action_masks.argmax(axis=1)\n"
        "        actions[~action_masks.any(axis=1)] = self.nothing\n"
        "        return actions\n"
    )
    check_agent(f"{file}:Mine", **QUICK)
    with pytest.raises(ConformanceError, match=r"mine.py:Mine:nothing=3' chose 3 although the round is over"):
        check_agent(f"{file}:Mine:nothing=3", **QUICK)
    env = vector_env(1)
    write_run(tmp_path / "run", env, network_for(env))
    check_agent(tmp_path / "run", **QUICK)


FAULTS = [
    (
        faulty.Illegal,
        r"chose .* which is illegal; legal were .*parker, 2 players in 2 teams, game \d, seat \d",
    ),
    (
        faulty.Scalar,
        r"'first_legal': act returned int64\[\] for 6 rows; it must be int64\[6\] \[parker, 2 players",
    ),
    (faulty.Squeezed, r"returned int64\[\] for 1 rows"),
    (faulty.Floats, r"returned float64\[6\] for 6 rows"),
    (faulty.Raising, "raised KeyError when asked about"),
    (faulty.WritesObservations, "wrote to its arguments"),
    (faulty.WritesMasks, "wrote to its arguments"),
    (faulty.WritesStates, "wrote to its arguments"),
    (faulty.Unseeded, "its random numbers must come from its seed"),
    (faulty.SharedMemory, "must not share what they remember"),
    (faulty.RowsTogether, "rows must not influence each other"),
    (faulty.MemoryByRow, "rows must not influence each other"),
    (faulty.PlaysOnAfterTheEnd, "although the round is over and the mask allows nothing; return -1"),
    (faulty.Peeks, "after the cards that its seat cannot see were dealt again"),
    (faulty.CompiledPeeks, "after the cards that its seat cannot see were dealt again"),
]


@pytest.mark.parametrize(("agent", "message"), FAULTS, ids=[agent.__name__ for agent, _ in FAULTS])
def test_a_fault_is_found_and_named(agent: Any, message: str) -> None:
    with pytest.raises(ConformanceError, match=message) as result:
        check_agent(agent, **QUICK)
    assert isinstance(result.value, AssertionError)
    assert isinstance(result.value, MilleBornesError)


def test_every_table_of_an_edition_is_tried() -> None:
    check_agent(faulty.ForTwo, **QUICK)
    with pytest.raises(ConformanceError, match=r"3 players in 3 teams: .*plays with two players only"):
        check_agent(faulty.ForTwo, games=2, decisions=2)


def test_an_agent_that_draws_may_be_said_to_be_random() -> None:
    """As a whole batch is asked about, nothing is wrong with this one but that rows go together."""
    check_agent(faulty.RowsTogether, is_random=True, **QUICK)
    with pytest.raises(ConformanceError, match="rows must not influence"):
        check_agent(faulty.Drawing, is_random=False, **QUICK)


def test_what_is_no_agent_is_refused(tmp_path: Path) -> None:
    for wrong in (7, "gredy", tmp_path, object, len):
        with pytest.raises(ConformanceError, match="cannot be made for parker"):
            check_agent(wrong, **QUICK)  # type: ignore[arg-type]
    for options in ({"decisions": 0}, {"games": 0}, {"seed": -1}, {"players": 5}, {"teams": 2}):
        with pytest.raises(MilleBornesError):
            check_agent("greedy", **options)  # type: ignore[arg-type]
    with pytest.raises(OptionError, match="decisions is 0"):
        check_agent("greedy", decisions=0)
