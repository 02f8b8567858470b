"""Mille Bornes for the engine: the functions of `engine.rulebook.Rulebook`, implemented by the chapters.

An episode is a round or a match; a round is scored when it is over, and rewards are paid then. Only this
module and `observation.py` use terms of reinforcement learning; the chapters do not.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from millebornes_env.engine.numba.compiling import plain, rule, seldom
from millebornes_env.engine.rewards import reward_of_share
from millebornes_env.games.millebornes import actions
from millebornes_env.games.millebornes.cards import DECK_SIZE
from millebornes_env.games.millebornes.coup_fourre import drop_pending_hazard
from millebornes_env.games.millebornes.determinize import redeal_hidden_cards
from millebornes_env.games.millebornes.ending import are_hands_played_out
from millebornes_env.games.millebornes.legality import is_legal, write_mask
from millebornes_env.games.millebornes.motion import team_of
from millebornes_env.games.millebornes.observation import (
    OBSERVATION_VERSION,
    write_hidden_cards,
    write_observation,
)
from millebornes_env.games.millebornes.reasons import reason_against
from millebornes_env.games.millebornes.rules import Rules, RulesRecord, rules_array
from millebornes_env.games.millebornes.scoring import round_score
from millebornes_env.games.millebornes.sections import (
    ObservationSpec,
    full_state_sections,
    sections,
    shown_teams,
)
from millebornes_env.games.millebornes.state import NO_TEAM, ROUND_OVER, STATE, State
from millebornes_env.games.millebornes.turn import start_match, start_next_round, step
from millebornes_env.games.millebornes.winning import (
    has_won_match,
    has_won_round,
    is_match_over,
    match_winner,
    round_winner,
)

NAME: Final = "millebornes"

EPISODES: Final = ("round", "match")
ROUND: Final = 0
MATCH: Final = 1

REWARDS: Final = ("points", "win")
POINTS: Final = 0
WIN: Final = 1

POINTS_PER_REWARD: Final = 1000.0
"""Lead in points for a reward of 1."""

REDEAL_ROOM: Final = DECK_SIZE

start = start_match
write_hidden = write_hidden_cards
redeal = redeal_hidden_cards


@rule
def is_round_over(state: State) -> bool:
    """Return True if the round is over and scored: no seat has to act."""
    return int(state.phase) == ROUND_OVER


@rule
def is_episode_over(state: State, rules: RulesRecord, episode: int) -> bool:
    """Return True if a finished round ends the episode: a match goes on until it is decided."""
    return episode == ROUND or is_match_over(state, rules)


@rule
def break_off(state: State) -> None:
    """End the round in its current state, without a winner or a score."""
    drop_pending_hazard(state)
    state.phase = ROUND_OVER


def was_broken_off(state: State, rules: Rules) -> bool:
    """Return True if the round is over without a winner, although there are cards left to play."""
    cards = int(state.draw_pile)
    if plain(are_hands_played_out)(state, rules):
        cards += int(state.hand_count[: rules.players].sum())
    return int(state.phase) == ROUND_OVER and int(state.winner) == NO_TEAM and cards > 0


@seldom
def write_rewards(
    state: State, rules: RulesRecord, episode: int, reward: int, over: bool, row: npt.NDArray[np.float32]
) -> None:
    """Write the reward of each seat for a finished round, the same for all members of a team.

    POINTS: the team's points minus the mean of the other teams', in thousands.
    WIN, and where no points are counted: the reward of the share of the win, at the end of the episode.
    """
    for seat in range(rules.players):
        team = team_of(rules, seat)
        if reward == POINTS and rules.count_points == 1:
            others = 0
            for other in range(rules.teams):
                others += round_score(state, other)
            own = round_score(state, team)
            row[seat] = (own - (others - own) / (rules.teams - 1)) / POINTS_PER_REWARD
        elif over:
            share = win_share(state, rules, episode, team)
            row[seat] = reward_of_share(share, rules.teams)


@rule
def win_share(state: State, rules: RulesRecord, episode: int, team: int) -> float:
    """Return the team's share of the win of the finished episode: 1, 1 / k if k teams share it, or 0."""
    if not has_won(state, rules, episode, team):
        return 0.0
    winners = 0
    for other in range(rules.teams):
        winners += 1 if has_won(state, rules, episode, other) else 0
    return 1.0 / winners


@rule
def has_won(state: State, rules: RulesRecord, episode: int, team: int) -> bool:
    """Return True if the team won the finished episode, alone or together with others."""
    if episode == MATCH:
        return has_won_match(state, rules, team)
    return has_won_round(state, rules, team)


@rule
def winner(state: State, rules: RulesRecord, episode: int) -> int:
    """Return the team that won the finished episode alone, or NO_TEAM."""
    if episode == MATCH:
        return match_winner(state, rules)
    return round_winner(state, rules)


@rule
def final_score(state: State, rules: RulesRecord, episode: int, team: int) -> int:
    """Return the team's points of the finished episode."""
    return int(state.score[team]) if episode == MATCH else round_score(state, team)


def is_won_by_score(rules: Rules) -> bool:
    """Return True if points are counted; if not, a round is won or lost."""
    return rules.count_points == 1


def action_count(rules: Rules, spec: ObservationSpec | None) -> int:
    """Return the length of a mask, which may be padded to the maximum number of teams (None: not padded)."""
    return actions.num_actions(rules.teams if spec is None else shown_teams(rules, spec))


def action_name(action: int, rules: Rules, seat: int | None) -> str:
    """Name the action of a seat in words."""
    return actions.action_name(action, rules.teams, None if seat is None else seat % rules.teams)


__all__ = [
    "EPISODES",
    "NAME",
    "OBSERVATION_VERSION",
    "REDEAL_ROOM",
    "REWARDS",
    "STATE",
    "ObservationSpec",
    "action_count",
    "action_name",
    "break_off",
    "final_score",
    "full_state_sections",
    "is_episode_over",
    "is_legal",
    "is_round_over",
    "is_won_by_score",
    "reason_against",
    "redeal",
    "rules_array",
    "sections",
    "start",
    "start_next_round",
    "step",
    "was_broken_off",
    "win_share",
    "winner",
    "write_hidden",
    "write_mask",
    "write_observation",
    "write_rewards",
]
