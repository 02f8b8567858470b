"""Masked PPO by self-play in one file, in the style of CleanRL: plain PyTorch over `vector_env`.

    python -m train.cleanrl_ppo

One network plays all seats and learns from every decision of each. Differences from CleanRL's ppo.py:

* illegal actions get probability 0 (`masked`);
* a transition leads from a seat's decision to the same seat's next one (`millebornes_env.envs.rollout`); the
  last decision of each seat in a rollout has no successor yet and is left out of the loss.

For speed and strength see train/selfplay.py; docs/environment/environments.md has a measurement of this file.
"""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import safetensors.torch
import torch
import tyro
from torch import Tensor, nn

from millebornes_env import VectorEnv, vector_env
from millebornes_env._util.command_line import run_command
from millebornes_env._util.files import write_bytes_atomically
from millebornes_env.agents import make
from millebornes_env.arena.match import MatchConfig, play
from millebornes_env.envs.rollout import advantages_of, transitions_of
from millebornes_env.errors import OptionError


@dataclass(frozen=True)
class Args:
    """The options of the command line."""

    edition: str = "parker"
    """rule sheet that is played"""
    players: int = 2
    """seats at the table"""
    reward: str = "points"
    """reward: points or win"""
    seed: int = 1
    """seed of the games, the network and the sampled actions"""
    seconds: float = 40.0
    """time budget, compiling excluded; the learning rate decays to 0"""
    total_timesteps: int | None = None
    """decisions to learn from, instead of a time budget"""
    num_envs: int = 256
    """number of parallel games"""
    num_steps: int = 32
    """steps of each game in a rollout"""
    num_minibatches: int = 8
    """minibatches per epoch"""
    update_epochs: int = 4
    """epochs per rollout"""
    learning_rate: float = 1e-3
    """initial learning rate of Adam"""
    hidden: int = 128
    """units in each of the two hidden layers"""
    gamma: float = 1.0
    """discount factor, per decision of the seat"""
    gae_lambda: float = 0.95
    """lambda of generalized advantage estimation"""
    clip_coef: float = 0.2
    """clip range of PPO"""
    ent_coef: float = 0.02
    """entropy coefficient of the loss"""
    vf_coef: float = 0.5
    """value function coefficient of the loss"""
    max_grad_norm: float = 0.5
    """gradient-norm clipping threshold"""
    eval_opponent: str = "random"
    """opponent in the evaluation at the end"""
    eval_matches: int = 500
    """matches of the evaluation, every deal in all rotations of the teams; 0: none"""
    threads: int = 2
    """threads of PyTorch and of the environment"""
    out: Path | None = None
    """file for the final weights (safetensors); None: they are not saved"""


def masked(logits: Tensor, mask: Tensor) -> torch.distributions.Categorical:
    """Return the policy over legal actions."""
    return torch.distributions.Categorical(
        logits=logits.masked_fill(mask == 0, torch.finfo(logits.dtype).min), validate_args=False
    )


class Agent(nn.Module):
    """Actor and critic, two hidden layers each."""

    def __init__(self, env: VectorEnv, hidden: int) -> None:
        """Create random weights; observations are divided by their largest values."""
        super().__init__()
        highs = np.concatenate([np.full(one.size, max(one.high, 1)) for one in env.observation_sections])
        self.scale: Tensor
        self.register_buffer("scale", torch.from_numpy((1.0 / highs).astype(np.float32)))
        self.actor = self._layers(len(highs), hidden, int(env.single_action_space.n), 0.01)
        self.critic = self._layers(len(highs), hidden, 1, 1.0)

    @staticmethod
    def _layers(inputs: int, hidden: int, outputs: int, gain: float) -> nn.Sequential:
        layers = [nn.Linear(inputs, hidden), nn.Linear(hidden, hidden), nn.Linear(hidden, outputs)]
        for layer, layer_gain in zip(layers, (2**0.5, 2**0.5, gain), strict=True):
            nn.init.orthogonal_(layer.weight, layer_gain)
            nn.init.zeros_(layer.bias)
        return nn.Sequential(layers[0], nn.Tanh(), layers[1], nn.Tanh(), layers[2])

    def forward(self, observations: Tensor, masks: Tensor) -> tuple[torch.distributions.Categorical, Tensor]:
        """Return policy and values of int8[B, D] observations and int8[B, A] masks."""
        scaled = observations.float() * self.scale
        return masked(self.actor(scaled), masks), self.critic(scaled).squeeze(-1)


class Player:
    """The network as an agent of `millebornes_env`, for evaluation."""

    name = "cleanrl_ppo"

    def __init__(self, agent: Agent) -> None:
        """Play greedily."""
        self._agent = agent

    def act(self, observations: npt.NDArray[np.int8], action_masks: npt.NDArray[np.int8]) -> npt.NDArray[Any]:
        """Return the most probable actions; see `agents.Agent`."""
        with torch.no_grad():
            policy, _ = self._agent(torch.from_numpy(observations), torch.from_numpy(action_masks))
        chosen: npt.NDArray[Any] = policy.logits.argmax(dim=1).numpy()
        return chosen


class Rollout:
    """T steps of N games."""

    def __init__(self, env: VectorEnv, steps: int) -> None:
        """Allocate the steps."""
        shape, buffers = (steps, env.num_envs), env.games.buffers
        self.observations = np.zeros((*shape, buffers.observation.shape[1]), np.int8)
        self.masks = np.zeros((*shape, buffers.action_mask.shape[1]), np.int8)
        self.seats = np.zeros(shape, np.int32)
        self.actions = np.zeros(shape, np.int64)
        self.logprobs = np.zeros(shape, np.float32)
        self.values = np.zeros(shape, np.float32)
        self.rewards = np.zeros((*shape, env.players), np.float32)
        self.terminations = np.zeros(shape, np.bool_)

    def collect(self, env: VectorEnv, agent: Agent) -> None:
        """Continue the games; arrays are copied, because `step` overwrites its buffers."""
        buffers = env.games.buffers
        for step in range(len(self.seats)):
            self.observations[step], self.masks[step] = buffers.observation, buffers.action_mask
            self.seats[step] = env.agent_selection
            with torch.no_grad():
                policy, value = agent(
                    torch.from_numpy(self.observations[step]), torch.from_numpy(self.masks[step])
                )
                action = policy.sample()
                self.logprobs[step] = policy.log_prob(action).numpy()
            self.actions[step], self.values[step] = action.numpy(), value.numpy()
            _, self.rewards[step], self.terminations[step], _, _ = env.step(self.actions[step])


def update(agent: Agent, optimizer: torch.optim.Optimizer, rollout: Rollout, args: Args) -> dict[str, float]:
    """Learn from a rollout; return the losses of the last minibatch."""
    transitions = transitions_of(rollout.seats, rollout.rewards, rollout.terminations)
    advantages, returns = advantages_of(
        transitions, rollout.values, gamma=args.gamma, gae_lambda=args.gae_lambda
    )
    rows = np.flatnonzero(transitions.is_complete)

    def chosen(array: npt.NDArray[Any]) -> Tensor:
        return torch.from_numpy(array.reshape(-1, *array.shape[2:])[rows])

    observations, masks, actions = (
        chosen(rollout.observations),
        chosen(rollout.masks),
        chosen(rollout.actions),
    )
    old_logprobs, b_advantages, b_returns = chosen(rollout.logprobs), chosen(advantages), chosen(returns)
    b_advantages = (b_advantages - b_advantages.mean()) / (b_advantages.std() + 1e-8)
    losses = {}
    for _ in range(args.update_epochs):
        for batch in torch.randperm(len(rows)).tensor_split(args.num_minibatches):
            policy, values = agent(observations[batch], masks[batch])
            ratio = (policy.log_prob(actions[batch]) - old_logprobs[batch]).exp()
            advantage = b_advantages[batch]
            clipped = ratio.clamp(1 - args.clip_coef, 1 + args.clip_coef)
            pg_loss = -torch.minimum(advantage * ratio, advantage * clipped).mean()
            v_loss = 0.5 * (values - b_returns[batch]).square().mean()
            entropy = policy.entropy().mean()
            loss = pg_loss - args.ent_coef * entropy + args.vf_coef * v_loss
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(agent.parameters(), args.max_grad_norm)
            optimizer.step()
            losses = {"pg_loss": pg_loss.item(), "v_loss": v_loss.item(), "entropy": entropy.item()}
    return losses


def train(args: Args) -> Agent:
    """Train until the budget is spent.

    Raises:
        MilleBornesError: there is no such table.
    """
    torch.manual_seed(args.seed)
    torch.set_num_threads(args.threads)
    env = vector_env(
        args.num_envs,
        args.edition,
        players=args.players,
        reward=args.reward,
        seed=args.seed,
        num_threads=args.threads,
    )
    env.reset()
    agent = Agent(env, args.hidden)
    optimizer = torch.optim.Adam(agent.parameters(), lr=args.learning_rate, eps=1e-5)
    rollout = Rollout(env, args.num_steps)
    start, decisions, done = time.perf_counter(), 0, 0.0
    while done < 1.0:
        optimizer.param_groups[0]["lr"] = (1.0 - done) * args.learning_rate
        rollout.collect(env, agent)
        losses = update(agent, optimizer, rollout, args)
        decisions += rollout.seats.size
        seconds = time.perf_counter() - start
        done = seconds / args.seconds if args.total_timesteps is None else decisions / args.total_timesteps
        text = ", ".join(f"{name} {value:.4f}" for name, value in losses.items())
        print(f"{decisions:,} decisions, {seconds:.0f} s ({decisions / seconds:,.0f}/s): {text}", flush=True)
    return agent


def evaluate(agent: Agent, args: Args) -> float:
    """Return the share of matches won against the opponent, every deal in all rotations of the teams."""
    config = MatchConfig(args.edition, args.players, seed=args.seed, threads=args.threads)
    deals = -(-args.eval_matches // config.rules.teams)
    outcome = play([Player(agent), args.eval_opponent], config, deals)
    return float(outcome.wins[:, :, 0].mean())


def check(args: Args) -> None:
    """Check the options.

    Raises:
        OptionError: a number is too small.
        MilleBornesError: there is no such table, or no such opponent.
    """
    counts = ("num_envs", "num_steps", "num_minibatches", "update_epochs", "hidden", "threads")
    for name in counts:
        if getattr(args, name) < 1:
            raise OptionError(f"{name} is {getattr(args, name)}; it must be 1 or more")
    if not args.seconds > 0 or (args.total_timesteps is not None and args.total_timesteps < 1):
        raise OptionError("seconds and total_timesteps must be above 0")
    if args.num_envs * args.num_steps < args.num_minibatches:
        raise OptionError(
            f"a rollout has {args.num_envs * args.num_steps} decisions; num_minibatches is "
            f"{args.num_minibatches}"
        )
    config = MatchConfig(args.edition, args.players, seed=args.seed, threads=args.threads)
    make(args.eval_opponent, config.table())


def main() -> int:
    """Run the command line; return the exit status."""

    def command() -> None:
        args = tyro.cli(Args, prog="python -m train.cleanrl_ppo", description=__doc__)
        check(args)
        agent = train(args)
        if args.out is not None:
            write_bytes_atomically(args.out, safetensors.torch.save(agent.state_dict()))
        if args.eval_matches > 0:
            share = evaluate(agent, args)
            print(f"won {100 * share:.1f} % of {args.eval_matches} matches against {args.eval_opponent}")

    return run_command(command)


if __name__ == "__main__":
    sys.exit(main())
