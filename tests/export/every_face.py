"""A user's script for the installed package: every interface, both games, agents against each other.

`test_wheel.py` runs it where no checkout is, and checks its types with `mypy --strict`. It prints a line for
each interface; `--sb3` adds that for Stable-Baselines3, which needs the library.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

import gymnasium
import numpy as np
import pettingzoo

import millebornes_env
from millebornes_env import agents, millebornes_v0, notation, vector_env, wielerspel_v0
from millebornes_env.arena.evaluation import evaluate
from millebornes_env.arena.match import MatchConfig
from millebornes_env.engine.numba import machine_code
from millebornes_env.envs.rollout import transitions_of
from millebornes_env.play.language import kaggle, legal_moves, parse, prompt, see, situation

Done = list[str]
TABLES = {"parker": 2, "arc_en_ciel": 4}
GYMNASIUM_IDS = ("millebornes/MilleBornes-v0", "millebornes/Wielerspel-v0")


def vector() -> Done:
    """Many games at once, and all that they can be asked."""
    played = []
    for edition, players in TABLES.items():
        env = vector_env(256, edition, players=players, seed=0)
        env.reset()
        env.step(env.sample_actions())
        env.observe(0), env.determinize(0), env.state(), env.set_states(env.get_states())
        env.reset(options={"reset_mask": np.arange(256) < 9}), env.render(0)
        position = notation.Position(env.edition, env.rules, env.get_states()[:1])
        if edition == "parker":
            list(notation.replay(notation.record_of(position, env.sample_actions()[:1])))
        played.append(edition)
    return played


def aec() -> Done:
    """One game at a time, as PettingZoo does it."""
    played = []
    registered = [pettingzoo.make("aec", f"millebornes/{name}-v0") for name in ("millebornes", "wielerspel")]
    for env in (millebornes_v0.env(render_mode="ansi"), wielerspel_v0.env(), *registered):
        env.reset(seed=1)
        for _ in env.agent_iter(20):
            observation, _reward, termination, truncation, _info = env.last()
            mask = observation["action_mask"]
            env.step(None if termination or truncation else int(mask.argmax()))
        played.append(str(env))
    return played


def one_learner() -> Done:
    """Gymnasium's way: one learner against agents."""
    played = []
    for name in GYMNASIUM_IDS:
        env = gymnasium.make(f"millebornes_env:{name}", opponent="greedy" if "Mille" in name else "saver")
        _observation, info = env.reset(seed=1)
        for _ in range(10):
            _observation, _reward, terminated, truncated, info = env.step(int(info["action_mask"].argmax()))
            if terminated or truncated:
                break
        played.append(name)
    return played


def many_learners() -> Done:
    """Gymnasium's way, many games at once."""
    played = []
    for name in GYMNASIUM_IDS:
        opponent = "greedy" if "Mille" in name else "saver"
        envs = gymnasium.make_vec(f"millebornes_env:{name}", num_envs=16, opponent=opponent)
        _observations, infos = envs.reset(seed=1)
        for _ in range(10):
            *_, infos = envs.step(infos["action_mask"].argmax(axis=1))
        played.append(name)
    return played


def sb3() -> Done:
    """Stable-Baselines3's vector environment."""
    from millebornes_env.envs.sb3 import SB3VecEnv  # noqa: PLC0415

    for edition, players in TABLES.items():
        env = SB3VecEnv(8, edition=edition, players=players, seed=0)
        env.reset()
        env.step(env.action_masks().argmax(axis=1))
    return [SB3VecEnv.__name__]


def text() -> Done:
    """Prompt for a language model, and parse its answer."""
    env = vector_env(1, seed=3)
    env.reset()
    view = see(situation(env))
    move = next(iter(legal_moves(view).values()))
    assert move in prompt(view)
    assert parse(f'{{"move": "{move}"}}', view).action is not None
    return sorted(kaggle.observation(view, player=0))


def learning() -> Done:
    """The rewards of a user's own loop."""
    env = vector_env(4, seed=0)
    observations, _infos = env.reset()
    steps = []
    for _ in range(8):
        seats = observations["agent_selection"].copy()
        observations, rewards, terminations, _truncations, _infos = env.step(env.sample_actions())
        steps.append((seats, rewards.copy(), terminations.copy()))
    result = transitions_of(*(np.stack(part) for part in zip(*steps, strict=True)))
    return list(result._fields)


def opponents() -> Done:
    """The agents of the package, the trained network with its weights among them, against each other."""
    result = []
    for edition, players, agent, opponent in (
        ("parker", 2, "champion", "strategist"),
        ("arc_en_ciel", 4, "bidder", "saver"),
    ):
        config = MatchConfig(edition=edition, players=players)
        (row,) = evaluate(agent, [opponent], config, deals=100)
        result.append(f"{agent} wins {row.win_rate.mean:.2f} against {opponent}")
        assert row.win_rate.mean > 1 / 2 / players, result[-1]
    env = vector_env(4, seed=0)
    observations, _infos = env.reset()
    searching = agents.load("greedy+search", env)
    searching.act(observations["observation"], observations["action_mask"])
    return result


FACES: tuple[Callable[[], Done], ...] = (vector, aec, one_learner, many_learners, text, learning, opponents)


def main() -> None:
    """Try them all."""
    for face in (*FACES, *([sb3] if "--sb3" in sys.argv else [])):
        print(f"{face.__name__}: {', '.join(face())}")
    print(f"machine code: {machine_code.status()}")
    print(f"package: {millebornes_env.__version__} in {millebornes_env.__file__}")


if __name__ == "__main__":
    main()
