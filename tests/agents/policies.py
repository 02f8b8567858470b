"""Networks and run folders for tests, written by hand as docs and `agents.policy` say."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from millebornes_env import VectorEnv
from millebornes_env.agents.millebornes import features as features_module
from millebornes_env.agents.millebornes.features import num_features
from millebornes_env.agents.policy.network import network_value
from millebornes_env.agents.protocol import Table
from millebornes_env.engine.numba.compiling import for_kernels, kernel
from millebornes_env.games.millebornes import rulebook
from millebornes_env.games.millebornes.observation import write_observation
from millebornes_env.games.millebornes.rules import RulesRecord, compiled_rules, rules_record
from millebornes_env.games.millebornes.sections import DEFAULT_SPEC, ObservationSpec, sections
from millebornes_env.games.millebornes.state import StateArray

safetensors = pytest.importorskip("safetensors.numpy")

Layers = list[tuple[np.ndarray, np.ndarray]]


def size_of(env: VectorEnv, shown: ObservationSpec = DEFAULT_SPEC, features: bool = False) -> int:
    """Return the number of inputs of a policy."""
    more = num_features(rules_record(env.rules), shown) if features else 0
    return sections(env.rules, shown)[-1].stop + more


def network(widths: tuple[int, ...], seed: int = 1) -> Layers:
    """Weights by chance, scaled so that no layer drowns the next."""
    random = np.random.default_rng(seed)
    return [
        (
            (random.normal(size=(outputs, inputs)) / np.sqrt(inputs)).astype(np.float32),
            random.normal(size=outputs).astype(np.float32),
        )
        for inputs, outputs in pairwise(widths)
    ]


def network_for(
    env: VectorEnv,
    hidden: tuple[int, ...] = (8, 6),
    shown: ObservationSpec = DEFAULT_SPEC,
    extra: int = 0,
    seed: int = 1,
    features: bool = False,
) -> Layers:
    """A network that fits the table, with so many outputs behind those of the actions."""
    actions = int(env.single_action_space.n)
    return network((size_of(env, shown, features), *hidden, actions + extra), seed)


def write_run(
    folder: Path,
    env: VectorEnv,
    layers: Layers,
    activation: str = "tanh",
    shown: ObservationSpec = DEFAULT_SPEC,
    features: bool = False,
    **changes: Any,
) -> Path:
    """A run folder of this network; `changes` override entries of its description."""
    folder.mkdir(parents=True, exist_ok=True)
    tensors = {}
    for number, (weight, bias) in enumerate(layers):
        tensors[f"layers.{number}.weight"] = weight.astype(np.float32)
        tensors[f"layers.{number}.bias"] = bias.astype(np.float32)
    safetensors.save_file(tensors, folder / "policy.safetensors")
    table = Table.of(env)
    description = {
        "format": 2,
        "editions": [table.edition],
        "players": env.players,
        "teams": env.rules.teams,
        "view": {"unseen": bool(shown.unseen), "rules": bool(shown.rules), "padded": bool(shown.padded)},
        "observation_version": table.observation_version,
        "features": features,
        "num_inputs": size_of(env, shown, features),
        "num_actions": table.num_actions,
        "activation": activation,
        "num_layers": len(layers),
        "value": None,
        **changes,
    }
    (folder / "policy.json").write_text(json.dumps(description), encoding="utf-8")
    return folder


def rows_by_state(
    env: VectorEnv, states: StateArray, shown: ObservationSpec, features: bool = False
) -> np.ndarray:
    """Return the inputs of the acting seats."""
    rows = np.zeros((len(states), size_of(env, shown)), np.int8)
    rules = compiled_rules(env.rules)
    for state, row in zip(for_kernels(states), rows, strict=True):
        write_observation(state, rules, int(state["seat"]), shown, row)
    return np.array([[*row, *features_by_hand(env, shown, row)] for row in rows]) if features else rows


def features_by_hand(env: VectorEnv, shown: ObservationSpec, row: np.ndarray) -> list[int]:
    """Compute the features of `agents.millebornes.features` from the named sections of an observation."""
    part = {one.name: row[one.start : one.start + one.size].tolist() for one in sections(env.rules, shown)}
    numbers: list[int] = []
    for team, km in enumerate(part["km"]):
        left = min(max(part["target"][0] - km, 0), 40)
        numbers += [int(team < env.rules.teams and place == left) for place in range(41)]
    numbers += [int(held >= 2) for held in part["hand"]]
    numbers += [int(held >= 3) for held in part["hand"]]
    return numbers + [int(place == part["draw_pile"][0] // 4) for place in range(27)]


def positions(env: VectorEnv, every: int = 6, seed: int = 1) -> list[tuple[StateArray, np.ndarray]]:
    """Games by chance, now and then: states and masks of all games of the environment."""
    masks = env.reset(seed=seed)[0]["action_mask"]
    result = []
    for step in range(90):
        if step % every == 0:
            result.append((env.get_states(), masks.copy()))
        masks = env.step(env.sample_actions()).observations["action_mask"]
    return result


@kernel
def values_of_network(
    states: StateArray, rules: RulesRecord, options: np.ndarray, values: np.ndarray
) -> None:
    for game in range(len(states)):
        values[game] = network_value(
            rulebook, features_module, ObservationSpec, states[game], rules, int(states[game].seat), options
        )
