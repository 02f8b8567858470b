"""The kernels that a wheel holds as machine code, with example arguments."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from export.module import Example
from millebornes_env.engine import kernels, sampling
from millebornes_env.engine.batch import Batch
from millebornes_env.engine.kernels import SAME_STEP, Settings, kernels_of
from millebornes_env.engine.numba.compiling import for_kernels
from millebornes_env.games.millebornes import rulebook
from millebornes_env.games.millebornes.audit import soundness
from millebornes_env.games.millebornes.editions import edition
from millebornes_env.games.millebornes.replay import play_until_refused
from millebornes_env.games.millebornes.rules import compiled_rules
from millebornes_env.games.millebornes.sections import ObservationSpec


def examples() -> list[Example]:
    """List the kernels, each with arguments of the types that it takes.

    Arrays that it only reads are read-only. The types do not depend on the edition, the table or the number
    of games.
    """
    settings = Settings(
        episode=0, reward=0, autoreset=SAME_STEP, observation_spec=ObservationSpec(), punish_illegal=0
    )
    table_rules = edition("parker").table(2, None)
    games = Batch(rulebook, 1, table_rules, settings)
    states, rules, buffers = for_kernels(games.states), compiled_rules(table_rules), games.buffers
    actions = np.zeros(1, np.int64)
    scratch = np.zeros(1, np.int64)
    seats = _read_only(np.zeros(1, np.int32))
    table = (states, games.game_rules, settings)
    loops = kernels_of(rulebook)
    return [
        (loops.seed_games, (states, 0, 0, 0)),
        (loops.step_range, (*table, _read_only(actions), buffers, games.legal, 0, 1, kernels.STEP)),
        (sampling.sample_range, (games.legal, actions, 0, 1, 0, 0, 0)),
        (loops.observe_seats, (*table, seats, buffers.observation)),
        (loops.redeal_games, (*table[:2], seats, 0, 0, np.zeros(rulebook.REDEAL_ROOM, np.int8))),
        (loops.full_states, (*table, 1, buffers.observation)),
        (soundness._first_unsound, (_read_only(states), rules, scratch)),
        (play_until_refused, (states, rules, _read_only(actions), np.zeros(1, np.int32))),
    ]


def _read_only(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    view = array.view()
    view.setflags(write=False)
    return view
