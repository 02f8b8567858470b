"""Requirements of other libraries: constructors that can be tried, masks, infos that stack."""

from __future__ import annotations

import importlib.util
import io
import sys
from collections.abc import Callable, Iterator
from typing import Any

import gymnasium
import numpy as np
import pettingzoo
import pytest

from millebornes_env import millebornes_v0, vector_env, wielerspel_v0
from millebornes_env._util.texts import print_text
from millebornes_env.errors import MissingExtraError, OptionError

PARKER = "millebornes_env:millebornes/MilleBornes-v0"
RACE = "millebornes_env:millebornes/Wielerspel-v0"
IDS = (PARKER, RACE)

CONSTRUCTORS: dict[str, Callable[..., Any]] = {
    "vector_env": vector_env,
    "millebornes_v0.env": millebornes_v0.env,
    "wielerspel_v0.env": wielerspel_v0.env,
    **{
        f"pettingzoo.make({name})": lambda name=name, **options: pettingzoo.make("aec", name, **options)
        for name in ("millebornes/millebornes-v0", "millebornes/wielerspel-v0")
    },
    **{f"make({name})": lambda name=name, **options: gymnasium.make(name, **options) for name in IDS},
    **{
        f"make_vec({name})": lambda name=name, **options: gymnasium.make_vec(name, num_envs=2, **options)
        for name in IDS
    },
}


def without_a_rasteriser(monkeypatch: pytest.MonkeyPatch) -> None:
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "resvg_py" else find(name))


# Constructors.


def test_an_unknown_option_is_a_type_error_in_pythons_words() -> None:
    """TorchRL looks for these words; Stable-Baselines3 catches `TypeError`."""
    failures = []
    for name, make in CONSTRUCTORS.items():
        try:
            make(frameskip=4)
        except TypeError as error:
            if "unexpected keyword argument 'frameskip'" in str(error):
                continue
            failures.append(f"{name}: {error}")
        else:
            failures.append(f"{name}: accepted")
    assert not failures
    with pytest.raises(OptionError, match=r"'oponent'; the options are opponent, .* Did you mean 'opponent'"):
        gymnasium.make(PARKER, oponent="greedy")


@pytest.mark.parametrize("env_id", IDS)
def test_pixels_without_the_extra_are_missed_when_they_are_drawn(
    env_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Stable-Baselines3's `make_vec_env` always asks for pixels, and asks again after a `TypeError`."""
    without_a_rasteriser(monkeypatch)
    try:
        env = gymnasium.make(env_id, render_mode="rgb_array")
    except TypeError:  # the race has no pictures
        assert env_id == RACE
        return
    assert "rgb_array" not in gymnasium.make(env_id).metadata["render_modes"]
    env.reset(seed=1)
    with pytest.raises(MissingExtraError, match=r"pip install 'millebornes-env\[pictures\]'"):
        env.render()
    envs = gymnasium.make_vec(env_id, num_envs=2, render_mode="rgb_array")
    envs.reset(seed=1)
    with pytest.raises(MissingExtraError):
        envs.render()
    monkeypatch.setitem(millebornes_v0.raw_env.metadata, "render_modes", ["ansi", "human", "svg"])
    with pytest.raises(TypeError, match="pictures"):
        millebornes_v0.env(render_mode="rgb_array")


@pytest.mark.parametrize("env_id", IDS)
def test_make_vec_env_of_stable_baselines3(env_id: str, monkeypatch: pytest.MonkeyPatch) -> None:
    without_a_rasteriser(monkeypatch)
    env_util = pytest.importorskip("stable_baselines3.common.env_util")
    env = env_util.make_vec_env(env_id, n_envs=2, seed=1)
    assert env.reset().shape[0] == 2


def test_a_mini_deck_makes_no_warning() -> None:
    """Some of its numbers are always 0; warnings are errors here."""
    env = gymnasium.make(PARKER, edition="mini7")
    env.reset(seed=1)
    space = env.observation_space
    assert isinstance(space, gymnasium.spaces.Box)
    assert (space.low < space.high).all()


@pytest.mark.parametrize("name", ["millebornes/millebornes-v0", "millebornes/wielerspel-v0"])
def test_max_cycles_truncates(name: str) -> None:
    env = pettingzoo.make("aec", name, max_cycles=20)
    for _ in range(2):
        env.reset(seed=1)
        steps, told = 0, set()
        for agent in env.agent_iter():
            observation, _, terminated, truncated, _ = env.last()
            assert (terminated, truncated) == (False, steps == 20)
            if truncated:
                assert not observation["action_mask"].any()
                told.add(agent)
            else:
                steps += 1
            env.step(None if truncated else int(observation["action_mask"].argmax()))
        assert (steps, told) == (20, set(env.possible_agents))
    for wrong in (0, -1, 1.5, "20", True):
        with pytest.raises(OptionError, match="max_cycles is"):
            millebornes_v0.env(max_cycles=wrong)  # type: ignore[arg-type]


def test_an_action_may_come_in_an_array_of_one() -> None:
    """As policies return it for one observation."""
    one: Any = gymnasium.make(PARKER).unwrapped
    aec = millebornes_v0.env()
    for env in (one, aec):
        env.reset(seed=1)
        for kind in (np.array, lambda actions: np.array([actions]), lambda actions: np.array(actions[0])):
            env.step(kind([next(iter(env.legal_actions()))]))


# Loops.


def action_of(mask: Any) -> Any:
    """The first legal action, as a policy chooses that knows nothing of ends."""
    assert mask.any(axis=-1).all()
    return mask.argmax(axis=-1)


@pytest.mark.parametrize("env_id", IDS)
@pytest.mark.parametrize("mode", ["sync", "same_step", "next_step", "disabled"])
def test_every_row_has_a_legal_action(env_id: str, mode: str) -> None:
    """Gymnasium's usual vector environments act once more on a game that is over."""
    how = {"vectorization_mode": "sync"} if mode == "sync" else {"autoreset_mode": mode}
    envs = gymnasium.make_vec(env_id, num_envs=3, observe_mask=True, **how)
    observations, infos = envs.reset(seed=1)
    ends = 0
    for _ in range(150):
        assert (infos["action_mask"] == observations["action_mask"]).all()
        observations, _, terminations, _, infos = envs.step(action_of(infos["action_mask"]))
        ends += terminations.sum()
        if mode == "same_step":
            assert all(final["action_mask"].all() for final in infos["final_obs"][terminations])
        else:
            assert infos["action_mask"][terminations].all()
        if mode == "disabled" and terminations.any():
            observations, infos = envs.reset(options={"reset_mask": terminations})
    assert ends > 0


def test_nothing_is_legal_once_a_game_has_ended() -> None:
    """A mask may say that no action is excluded; what may be done is another question."""
    env = gymnasium.make(PARKER)
    _, info = env.reset(seed=1)
    over = False
    while not over:
        assert set(env.unwrapped.legal_actions()) == set(np.flatnonzero(info["action_mask"]))
        over, _, info = env.step(action_of(info["action_mask"]))[2:]
    assert env.unwrapped.legal_actions() == {}


def structure(value: Any) -> Any:
    """Return the keys, shapes and dtypes, which consumers that stack infos compare."""
    if isinstance(value, dict):
        return {key: structure(one) for key, one in value.items()}
    return np.asarray(value).dtype, np.asarray(value).shape


def infos_of_one(env_id: str) -> Iterator[Any]:
    env = gymnasium.make(env_id)
    for seed in range(2):
        over, info = False, env.reset(seed=seed)[1]
        while not over:
            yield info
            over, _, info = env.step(action_of(info["action_mask"]))[2:]
        assert 0.0 <= info["won"] <= 1.0
        yield info


def infos_of_many(env_id: str, **how: Any) -> Iterator[Any]:
    envs = gymnasium.make_vec(env_id, num_envs=3, **how)
    infos, ends = envs.reset(seed=1)[1], 0
    for _ in range(150):
        yield infos
        terminations, _, infos = envs.step(action_of(infos["action_mask"]))[2:]
        ends += terminations.sum()
        if how.get("autoreset_mode") == "disabled" and terminations.any():
            yield infos
            infos = envs.reset(options={"reset_mask": terminations})[1]
    assert ends > 0


def infos_of_agents(module: Any) -> Iterator[Any]:
    env = module.env()
    env.reset(seed=1)
    for _ in env.agent_iter():
        observation, _, over, _, info = env.last()
        yield from env.infos.values()
        yield info
        env.step(None if over else int(observation["action_mask"].argmax()))


INFOS: dict[str, Callable[[], Iterator[Any]]] = {
    **{f"make({name})": lambda name=name: infos_of_one(name) for name in IDS},
    **{
        f"make_vec({name}, {mode})": lambda name=name, mode=mode: infos_of_many(name, autoreset_mode=mode)
        for name in IDS
        for mode in ("same_step", "next_step", "disabled")
    },
    "sync": lambda: infos_of_many(PARKER, vectorization_mode="sync"),
    "millebornes_v0": lambda: infos_of_agents(millebornes_v0),
    "wielerspel_v0": lambda: infos_of_agents(wielerspel_v0),
}


@pytest.mark.parametrize("name", INFOS)
def test_infos_have_one_structure_from_the_reset_on(name: str) -> None:
    first, *others = map(structure, INFOS[name]())
    assert all(one == first for one in others)


# Names of columns, sections and actions.


def test_columns_sections_and_legal_actions_on_every_face() -> None:
    for env_id, vector, aec in (
        (PARKER, vector_env(2), millebornes_v0.env()),
        (RACE, vector_env(2, "arc_en_ciel", players=4), wielerspel_v0.env()),
    ):
        one, many = gymnasium.make(env_id).unwrapped, gymnasium.make_vec(env_id, num_envs=2)
        for env in (vector, aec, one, many):
            env.reset(seed=1)
            size = vector.observation_sections[-1].stop
            assert len(set(env.columns)) == len(env.columns) == size
            for part in vector.observation_sections:
                assert env.section(part.name) == slice(part.start, part.stop)
                assert all(name.startswith(part.name) for name in env.columns[part.start : part.stop])
            with pytest.raises(OptionError, match="no section 'speed_of_light'"):
                env.section("speed_of_light")
        assert aec.legal_actions() == vector.legal_actions()
        for env in (one, many):
            mask = env.games.buffers.action_mask[0]
            assert sorted(env.legal_actions()) == np.flatnonzero(mask).tolist() != []
    assert vector_env(1).columns[37:40] == ("discard_pile[18]", "draw_pile", "phase[0]")


# Printing.


def test_letters_that_a_stream_lacks_are_printed_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """A table with a coup fourré, on Windows' code page for Russian."""
    bytes_out = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(bytes_out, encoding="cp1251"))
    position = "hand 0: right_of_way 25\nbattle 0: roll\nsafeties 1: extra_tank!\nto act: seat 0, play"
    envs: list[Any] = [
        millebornes_v0.env(render_mode="human"),
        gymnasium.make(PARKER, seat=0, render_mode="human"),
    ]
    for env in envs:
        env.reset(seed=1, options={"positions": position})
    print_text("fourr\xe9")
    sys.stdout.flush()
    assert bytes_out.getvalue().count(b"coup fourr\\xe9") == 2
    assert bytes_out.getvalue().endswith(b"\nfourr\\xe9\n")


def test_an_interface_whose_library_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "millebornes_env.envs.sb3", raising=False)
    monkeypatch.setitem(sys.modules, "stable_baselines3.common.vec_env", None)
    monkeypatch.setitem(sys.modules, "stable_baselines3", None)
    told = r"envs\.sb3 needs stable_baselines3.*: pip install 'millebornes-env\[train\]'"
    with pytest.raises(MissingExtraError, match=told):
        importlib.import_module("millebornes_env.envs.sb3")
