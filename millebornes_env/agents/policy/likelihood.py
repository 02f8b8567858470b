"""How probable a play is to a network: what a belief asks about the plays of others."""

from __future__ import annotations

import math
from typing import Any, Final, NamedTuple

import numpy as np

from millebornes_env.agents.compiled.agent import Int64Array
from millebornes_env.agents.compiled.legal import list_legal
from millebornes_env.agents.policy.network import (
    HAS_VALUE,
    MAX_ACTIONS,
    MAX_OBS_SIZE,
    MAX_UNITS,
    NUM_LAYERS,
    WIDTHS,
    Features,
    forward_hidden,
    output,
)
from millebornes_env.engine.numba.compiling import rule_of_rules, stack_array
from millebornes_env.engine.rulebook import Rulebook

_ROOM: Final = max(MAX_UNITS, MAX_OBS_SIZE) + 16
_MORE_THAN_ACTIONS: Final = MAX_ACTIONS + 1


class Play(NamedTuple):
    """What is asked about."""

    action: int
    temperature: float  # logits are divided by it; above 1 the network is less sure of itself


@rule_of_rules
def network_probability(
    rulebook: Rulebook,
    features: Features,
    kind: Any,
    state: Any,
    rules: Any,
    seat: int,
    options: Int64Array,
    play: Play,
) -> float:
    """The probability that the softmax of the legal logits gives an action.

    Args:
        rulebook: of the game.
        features: of the game.
        kind: the class that says what an observation shows.
        state: the game; the seat is to decide.
        rules: the table's.
        seat: who decides.
        options: of the network.
        play: an action, and at what temperature.

    Returns:
        0 for an action that is not legal.
    """
    mask = stack_array(np.int8, MAX_ACTIONS)[
        : int(options[WIDTHS + int(options[NUM_LAYERS])]) - int(options[HAS_VALUE])
    ]
    rulebook.write_mask(state, rules, mask)
    if mask[play.action] == 0:
        return 0.0
    actions = stack_array(np.int16, _MORE_THAN_ACTIONS)
    count = list_legal(mask, actions)
    units = stack_array(np.float32, _ROOM)
    last_layer = forward_hidden(rulebook, features, kind, state, rules, seat, options, units)
    logits = stack_array(np.float32, MAX_ACTIONS)
    best = -math.inf
    own = 0.0
    for place in range(count):
        logit = output(options, last_layer, units, int(actions[place]))
        logits[place] = logit
        best = max(best, float(logit))
        if int(actions[place]) == play.action:
            own = float(logit)
    whole = 0.0
    for place in range(count):
        whole += math.exp((float(logits[place]) - best) / play.temperature)
    return math.exp((own - best) / play.temperature) / whole
