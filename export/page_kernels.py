"""The kernels of the page in the browser: those of the wheel, and more that only the page needs.

They only call the rulebook, the agents and search. Fractions are passed as whole thousandths, since words are
whole numbers (`export.module`).
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from export import kernels as of_wheel
from export.module import Example
from millebornes_env.agents import registry
from millebornes_env.agents.champion import plays_like_parker
from millebornes_env.agents.compiled.agent import (
    MAX_OPTIONS,
    MEMORY,
    CompiledAgent,
    Int16Array,
    Int64Array,
    _examples,
    agent_kernels_of,
)
from millebornes_env.agents.millebornes import features
from millebornes_env.agents.millebornes.observation_reader import Starts
from millebornes_env.agents.policy.agent import PolicyAgent
from millebornes_env.agents.policy.network import (
    NUM_LAYERS,
    SCRATCH_SIZE,
    WIDTHS,
    Float32Array,
    forward_hidden,
    network_kernels_of,
    output,
)
from millebornes_env.agents.protocol import Table
from millebornes_env.agents.search import kernels as search
from millebornes_env.agents.search.hidden_cards import no_hands
from millebornes_env.agents.search.kernels import Decisions, Searcher, new_decisions
from millebornes_env.engine.chance import random_word
from millebornes_env.engine.numba.compiling import for_kernels, kernel, stack_array
from millebornes_env.games.millebornes import rulebook
from millebornes_env.games.millebornes.editions import edition
from millebornes_env.games.millebornes.motion import is_cured_by_safety, is_limited, is_moving
from millebornes_env.games.millebornes.observation import OBSERVATION_VERSION
from millebornes_env.games.millebornes.reasons import reason_of
from millebornes_env.games.millebornes.rule_checks import problem_of
from millebornes_env.games.millebornes.rules import Rules, RulesRecord, compiled_rules
from millebornes_env.games.millebornes.sections import BySection, ObservationSpec, sections
from millebornes_env.games.millebornes.state import MAX_TEAMS, ROUND_OVER, STATE, StateArray
from millebornes_env.games.millebornes.winning import has_won_match, has_won_round, is_match_over

NETWORK: Final = "network"
"""Name of the trained policies' function, among those of the agents."""

# Columns of the array that `team_facts` writes.
FACTS: Final = ("can_drive", "limited", "cured", "won_round", "won_match")
CAN_DRIVE, LIMITED, CURED, WON_ROUND, WON_MATCH = range(len(FACTS))

_THOUSAND: Final = 1000.0


# Questions of the page -------------------------------------------------------------------------------------


@kernel
def team_facts(states: StateArray, rules: RulesRecord, facts: npt.NDArray[np.int64]) -> int:
    """Compute the facts about each team that the page shows and that no field of the record holds.

    Args:
        states: STATE[1], the game.
        rules: the table's.
        facts: int64[MAX_TEAMS, len(FACTS)], overwritten; winners are only written when a round is over.

    Returns:
        1 if the round is over and decides the match, else 0.
    """
    state = states[0]
    is_over = int(state.phase) == ROUND_OVER
    facts[:, :] = 0
    for team in range(rules.teams):
        facts[team, CAN_DRIVE] = int(is_moving(state, rules, team))
        facts[team, LIMITED] = int(is_limited(state, team))
        facts[team, CURED] = int(is_cured_by_safety(state, team))
        if is_over:
            facts[team, WON_ROUND] = int(has_won_round(state, rules, team))
            facts[team, WON_MATCH] = int(has_won_match(state, rules, team))
    return int(is_over and is_match_over(state, rules))


@kernel
def why_not(states: StateArray, rules: RulesRecord, action: int) -> int:
    """Return the index in `reasons.REASONS` of the reason why an action is not legal."""
    return reason_of(states[0], rules, action)


@kernel
def rules_problem(rules: RulesRecord) -> int:
    """Return the index in `rule_checks.PROBLEMS` of a conflict between rules, or -1 if there is none."""
    return problem_of(rules)


@kernel
def preferred_champion(rules: RulesRecord) -> int:
    """Return the index in `champion.PREFERRED` of the champion for these rules."""
    return int(plays_like_parker(rules))


@kernel
def random_number(key_0: int, key_1: int, counter: int) -> int:
    """Return a random number from 0 to 2**32 - 1 (`engine.chance.random_word`) for an agent."""
    return random_word(key_0, key_1, counter)


@kernel
def network_outputs(
    states: StateArray,
    rules: RulesRecord,
    seats: npt.NDArray[np.int32],
    options: Int64Array,
    out: Float32Array,
) -> int:
    """Compute a network's outputs for a game as a seat sees it.

    Args:
        states: STATE[1], the game.
        rules: the table's.
        seats: int32[1], the observing seat.
        options: int64[MAX_OPTIONS], the network's.
        out: float32[at least the number of outputs], overwritten: a logit for each action, legal or not, then
            the value of the position if the network has one.

    Returns:
        Number of outputs.
    """
    units = stack_array(np.float32, SCRATCH_SIZE)
    last_layer = forward_hidden(
        rulebook, features, ObservationSpec, states[0], rules, int(seats[0]), options, units
    )
    count = int(options[WIDTHS + int(options[NUM_LAYERS])])
    for number in range(count):
        out[number] = output(options, last_layer, units, number)
    return count


# Search ----------------------------------------------------------------------------------------------------


@kernel
def begin_search(  # noqa: PLR0913, PLR0917 - a Searcher holds a fraction, which no word can
    choose: int,
    options: Int64Array,
    starts: Starts,
    sees: int,
    rollouts: int,
    depth: int,
    key_0: int,
    key_1: int,
    states: StateArray,
    rules: RulesRecord,
    seats: npt.NDArray[np.int32],
    row: npt.NDArray[np.int8],
    slot_ids: Int64Array,
    memories: Int16Array,
    taken: Int64Array,
    decisions: Decisions,
) -> None:
    """Read games as their seats see them, and list the actions to try (`search.begin_decisions`)."""
    searcher = Searcher(choose, options, starts, sees, rollouts, depth, 0.0, key_0, key_1)
    search.read_states(searcher, rules, states, seats, row, decisions.roots)
    search.begin_decisions(searcher, rules, slot_ids, memories, taken, decisions)


@kernel
def go_on_searching(  # noqa: PLR0913, PLR0917
    choose: int,
    options: Int64Array,
    starts: Starts,
    sees: int,
    rollouts: int,
    depth: int,
    key_0: int,
    key_1: int,
    rules: RulesRecord,
    decisions: Decisions,
    number: int,
    redeals: int,
    hands: npt.NDArray[np.int8],
) -> int:
    """Continue one decision for at most this many redeals (`search.search_on`); return 1 if it is done."""
    searcher = Searcher(choose, options, starts, sees, rollouts, depth, 0.0, key_0, key_1)
    return int(search.search_on(searcher, rules, decisions, number, redeals, hands))


@kernel
def conclude_search(
    options: Int64Array, starts: Starts, thousandths: int, decisions: Decisions, actions: Int64Array
) -> None:
    """Decide (`search.conclude`); a gain must exceed 0 by `thousandths` / 1000 standard errors."""
    searcher = Searcher(0, options, starts, 0, 0, 0, thousandths / _THOUSAND, 0, 0)
    search.conclude(searcher, decisions, actions)


@kernel
def search_findings(
    decisions: Decisions, number: int, means: npt.NDArray[np.float64], errors: npt.NDArray[np.float64]
) -> int:
    """Write a search's results for the actions that it still tries, in the order of `decisions.tried`.

    Args:
        decisions: the search's.
        number: index of the decision.
        means: float64[A], overwritten: mean gains over the base.
        errors: float64[A], overwritten: their standard errors.

    Returns:
        Number of actions.
    """
    tried = int(decisions.num_tried[number])
    for other in range(tried):
        means[other] = decisions.gains[number, other] / max(float(decisions.redeals[number]), 1.0)
        errors[other] = search.error_of(decisions, number, other)
    return tried


# Example arguments -----------------------------------------------------------------------------------------


def agents_of(table: Table) -> dict[str, CompiledAgent]:
    """Return the agents that are compiled functions without a network, by name."""
    result = {}
    for name in registry.names(table.game):
        maker: Any = registry.AGENTS[name]
        is_compiled = isinstance(maker, type) and issubclass(maker, CompiledAgent) and maker.is_compiled
        if is_compiled and not issubclass(maker, PolicyAgent):
            result[name] = maker(table)
    return result


def table_of(edition_name: str, players: int, teams: int | None) -> Table:
    """Return the table that agents are made for, with the default observation."""
    sheet = edition(edition_name)
    rules = sheet.table(players, teams)
    layout = sections(rules)
    return Table(
        sheet.name, rules, layout, OBSERVATION_VERSION, int(rulebook.action_count(rules, ObservationSpec()))
    )


def examples() -> list[Example]:
    """List the kernels of the page, each with arguments of the types that it takes."""
    table = table_of("parker", 2, None)
    return [*of_wheel.examples(), *_examples_of_agents(table), *_examples_of_page(table.rules)]


def _examples_of_agents(table: Table) -> list[Example]:
    of_choose = _examples(rulebook, table.rules)
    functions = {name: agent.function() for name, agent in agents_of(table).items()}
    functions[NETWORK] = network_kernels_of(rulebook).choose
    result: list[Example] = [(kernel(choose), of_choose, name) for name, choose in functions.items()]
    states, rules = _one_game(table.rules)
    int64, int32 = np.zeros(1, np.int64), np.zeros(1, np.int32)
    memories, options = np.zeros((1, MEMORY), np.int16), np.zeros(MAX_OPTIONS, np.int64)
    choose_each = agent_kernels_of(rulebook).choose_each
    arguments = (0, states, rules, int32, memories, options, int64, int64)
    return [*result, (choose_each, arguments, "choose_each")]


def _examples_of_page(table_rules: Rules) -> list[Example]:
    states, rules = _one_game(table_rules)
    int64, int32, int8 = np.zeros(1, np.int64), np.zeros(1, np.int32), np.zeros(1, np.int8)
    memories, options = np.zeros((1, MEMORY), np.int16), np.zeros(MAX_OPTIONS, np.int64)
    starts = BySection(*[0] * len(BySection._fields))
    decisions = new_decisions(1, 2, 42, for_kernels(np.zeros(3, STATE)))
    searcher = (0, options, starts, 0, 0, 0, 0, 0)
    return [
        (team_facts, (states, rules, np.zeros((MAX_TEAMS, len(FACTS)), np.int64))),
        (why_not, (states, rules, 0)),
        (rules_problem, (rules,)),
        (preferred_champion, (rules,)),
        (random_number, (0, 0, 0)),
        (network_outputs, (states, rules, int32, options, np.zeros(1, np.float32))),
        (begin_search, (*searcher, states, rules, int32, int8, int64, memories, int64, decisions)),
        (go_on_searching, (*searcher, rules, decisions, 0, 0, no_hands())),
        (conclude_search, (options, starts, 0, decisions, int64)),
        (search_findings, (decisions, 0, np.zeros(1, np.float64), np.zeros(1, np.float64))),
    ]


def _one_game(table_rules: Rules) -> tuple[StateArray, Any]:
    return for_kernels(np.zeros(1, STATE)), compiled_rules(table_rules)


__all__ = ["FACTS", "NETWORK", "agents_of", "examples", "table_of"]
