"""What an illegal action is told: which game, which seat, which play, why, and what was legal."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from millebornes_env.errors import ActionRangeError, IllegalActionError, MilleBornesError, ResetNeededError
from millebornes_env.millebornes.actions import action_name, card_of, num_actions
from millebornes_env.millebornes.cards import CARD_NAMES, NO_CARD
from millebornes_env.millebornes.state import PHASE_NAMES, PLAY, ROUND_OVER

if TYPE_CHECKING:
    from millebornes_env.envs.vector import VectorEnv


def illegal_action_error(env: VectorEnv, game: int, action: int) -> MilleBornesError:
    """The exception for an action that a game could not carry out.

    Args:
        env: the environment.
        game: which game.
        action: the action that was tried.

    Returns:
        `ResetNeededError` if the game is over, `ActionRangeError` for an id that names no play, else
        `IllegalActionError`.
    """
    state = env.games.states[game]
    if state.phase == ROUND_OVER:
        return ResetNeededError(
            f"game {game} has ended: begin its next episode with "
            'reset(options={"reset_mask": ...}), or leave it with action -1'
        )
    seat = int(state.seat)
    who = f"game {game}, {env.possible_agents[seat]}"
    highest = num_actions(env.teams) - 1
    if not 0 <= action <= highest:
        return ActionRangeError(f"{who}: there is no action {action}; ids go from 0 to {highest}")
    team = seat % env.teams
    legal = np.flatnonzero(env.games.buffers.action_mask[game])
    choices = ", ".join(f"{action_name(int(one), env.teams, team)} ({one})" for one in legal)
    return IllegalActionError(
        f"{who}: {action_name(action, env.teams, team)!r} (action {action}) is not legal: "
        f"{_reason(env, game, action)}. Legal now: {choices}"
    )


def _reason(env: VectorEnv, game: int, action: int) -> str:
    state = env.games.states[game]
    phase, card = int(state.phase), card_of(action)
    if phase != PLAY or card == NO_CARD:
        return f"the decision is {PHASE_NAMES[phase]!r}"
    if int(state.hand[int(state.seat), card]) == 0:
        return f"the hand holds no {CARD_NAMES[card]}"
    return "the rules do not allow it in this position"
