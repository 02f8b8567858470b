"""The kernels that the wheel holds as machine code, with arguments of the types that they are called with."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from export.module import Example
from millebornes_env.compile import for_kernels
from millebornes_env.engine import kernels
from millebornes_env.engine.games import Games
from millebornes_env.engine.kernels import POINTS, SAME_STEP, Settings
from millebornes_env.millebornes import audit
from millebornes_env.millebornes.cards import DECK_SIZE
from millebornes_env.millebornes.editions import edition
from millebornes_env.millebornes.observation import View
from millebornes_env.millebornes.replay import play_until_refused
from millebornes_env.millebornes.rules import compiled_rules


def examples() -> list[Example]:
    """All of them, with one argument of each of their types; arrays that are only read are read-only.

    Types do not depend on the edition, the table or the number of games.
    """
    settings = Settings(match=0, reward=POINTS, autoreset=SAME_STEP, layout=View(), punish_illegal=0)
    games = Games(1, edition("parker").table(2, None), settings)
    states, rules, buffers = for_kernels(games.states), compiled_rules(games.rules), games.buffers
    actions = np.zeros(1, np.int64)
    scratch = np.zeros(1, np.int64)
    seats = _read_only(np.zeros(1, np.int32))
    table = (states, rules, settings)
    return [
        (kernels.seed_games, (states, 0, 0, 0)),
        (kernels.step_range, (*table, _read_only(actions), buffers, 0, 1, kernels.STEP)),
        (kernels.sample_range, (buffers.action_mask, 0, 0, actions, scratch, 0, 1)),
        (kernels.observe_seats, (*table, seats, buffers.observation)),
        (kernels.redeal_games, (states, rules, seats, 0, 0, np.zeros(DECK_SIZE, np.int8))),
        (kernels.full_states, (*table, 1, buffers.observation)),
        (audit._first_unsound, (_read_only(states), rules, scratch)),
        (play_until_refused, (states, rules, _read_only(actions), np.zeros(1, np.int32))),
    ]


def _read_only(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    view = array.view()
    view.setflags(write=False)
    return view
