"""Game and evaluation of all learners of `research.measurements.works_with`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import gymnasium
import numpy as np
import numpy.typing as npt

GAME: Final = "millebornes_env:millebornes/MilleBornes-v0"
"""Gymnasium's id: one learner at a table of two, a round an episode."""

Floats = npt.NDArray[np.float32]
Masks = npt.NDArray[np.int8]
Ints = npt.NDArray[np.int64]

Act = Callable[[Floats, Masks], Ints]
"""Scaled observations float32[N, D] and masks int8[N, A] in, actions int64[N] out."""


def most_probable(logits: Callable[[Any], Any]) -> Act:
    """Return the policy that plays the legal action with the highest logit.

    Args:
        logits: PyTorch's function of scaled observations, [N, D] to [N, A].
    """
    import torch  # noqa: PLC0415 - the evaluation alone does not need it

    def act(observations: Floats, masks: Masks) -> Ints:
        with torch.no_grad():
            rows = logits(torch.from_numpy(observations))
        chosen: Ints = rows.masked_fill(torch.from_numpy(masks) == 0, -torch.inf).argmax(dim=1).numpy()
        return chosen

    return act


def share_won(act: Act, *, rounds: int, seed: int, opponent: str = "random") -> float:
    """Play parallel rounds, half of them from each seat.

    Args:
        act: the policy.
        rounds: number of rounds.
        seed: seed of the deals and of the opponent.
        opponent: name of an agent.

    Returns:
        The share won, 0 to 1; a shared win counts one half.
    """
    options: dict[str, Any] = {"opponent": opponent, "scaled": True, "autoreset_mode": "next_step"}
    games = gymnasium.make_vec(GAME, num_envs=rounds, **options)
    observations, infos = games.reset(seed=seed)
    won = np.zeros(rounds)
    is_playing = np.ones(rounds, np.bool_)
    while is_playing.any():
        actions = act(observations, infos["action_mask"])
        observations, _, terminations, _, infos = games.step(actions)
        ended = terminations & is_playing
        if ended.any():
            won[ended] = infos["won"][ended]
        is_playing &= ~terminations
    games.close()
    return float(won.mean())
