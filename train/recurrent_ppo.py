"""Learn a game by self-play with a policy that remembers: PPO with a GRU, or with attention.

    python -m train.recurrent_ppo --edition mini8 --run-dir runs/memory --minutes 5
    python -m train.recurrent_ppo --edition mini8 --memory attention

One network plays all seats. Each seat of each game has a memory of its own decisions in the round; what the
others see never enters it. The run folder is played as any other: `policy:runs/memory`.
"""

# Read from top to bottom: the network, the rollout, the loss, the learner, the run.
#
# Shapes: T steps, N games, S seats, D numbers of an observation, A actions, H units. A sequence is what one
# seat of one game decided in a rollout, in order: B = N * S sequences of at most L decisions.

from __future__ import annotations

import copy
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from millebornes_env import VectorEnv, vector_env
from millebornes_env._util.signals import Stops
from millebornes_env.agents.policy.agent import observation_scale
from millebornes_env.agents.policy.files import describe_table
from millebornes_env.agents.policy.memory import FILES, MOST_WINDOW, NAMES
from millebornes_env.agents.policy.writing import usual_input
from millebornes_env.envs.rollout import advantages_of, transitions_of
from train.common.libraries import LibraryLearner, LibraryOptions
from train.common.options import check_counts, check_training, linear_schedule
from train.common.run_folder import with_prefix
from train.common.runs import Run, run_training

CHECKPOINT_KIND: Final = "train.recurrent_ppo 1"


@dataclass(frozen=True)
class Args(LibraryOptions):
    """The options of the command line; each is saved in the run's config.json."""

    num_envs: int = 512
    num_steps: int = 32
    batch_size: int = 2048
    """minibatch size in decisions; a minibatch has all decisions of some games"""
    memory: Literal["gru", "attention"] = "gru"
    """gated recurrent unit, or attention over the last decisions of the seat"""
    window: int = 16
    """decisions that attention sees, the present one included"""
    ema_decay: float = 0.98
    """decay per update of the moving average of the weights, which is the saved policy"""
    device: str = "cpu"
    """device of PyTorch, such as cuda"""


# The network -----------------------------------------------------------------------------------------------


class Gru(nn.Module):
    """A gated recurrent unit; it remembers H numbers."""

    def __init__(self, units: int) -> None:
        super().__init__()
        self.size = units
        cell = nn.GRUCell(units, units)
        self.weight_ih, self.weight_hh = cell.weight_ih, cell.weight_hh
        self.bias_ih, self.bias_hh = cell.bias_ih, cell.bias_hh

    def forward(self, inputs: Tensor, is_new: Tensor, memory: Tensor) -> tuple[Tensor, Tensor]:
        """Go through sequences.

        Args:
            inputs: float32[B, L, H], encoded observations.
            is_new: bool[B, L], True where a round begins: what was before is forgotten.
            memory: float32[B, size], what is remembered before the first decision.

        Returns:
            What is recalled at each decision, float32[B, L, H], and the memory after each,
            float32[B, L, size].
        """
        weights = self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh
        outputs = []
        for row, begins in zip(inputs.unbind(dim=1), is_new[..., None].unbind(dim=1), strict=True):
            memory = torch.gru_cell(row, torch.where(begins, 0.0, memory), *weights)
            outputs.append(memory)
        recalled = torch.stack(outputs, dim=1)
        return recalled, recalled


class Attention(nn.Module):
    """Attention to the last decisions of the seat in the round, with a bias for their age.

    It remembers their encodings, as Transformer-XL does (Dai et al. 2019): those from before a rollout are
    not learned from.
    """

    def __init__(self, units: int, window: int) -> None:
        super().__init__()
        self.size, self.window = (window - 1) * (units + 1), window
        self.query, self.key, self.value = (nn.Linear(units, units, bias=False) for _ in range(3))
        self.age = nn.Parameter(torch.zeros(window))

    def forward(self, inputs: Tensor, is_new: Tensor, memory: Tensor) -> tuple[Tensor, Tensor]:
        """Go through sequences; see `Gru.forward`."""
        count, length, units = inputs.shape
        kept = memory.reshape(count, self.window - 1, units + 1)
        present = torch.cat([inputs, torch.ones_like(inputs[:, :, :1])], dim=2)
        tokens = torch.cat([kept, present], dim=1)
        rounds = torch.cat([kept.new_zeros(count, self.window - 1), is_new.float().cumsum(dim=1)], dim=1)
        places = torch.arange(length + self.window, device=inputs.device)
        windows = places[:length, None] + places[: self.window]
        same = (rounds[:, windows] == rounds[:, self.window - 1 :, None]).float()  # [B, L, window]
        is_seen = tokens[:, :, units][:, windows] * same > 0
        encoded = tokens[:, :, :units]
        keys, values = self.key(encoded)[:, windows], self.value(encoded)[:, windows]
        scores = torch.einsum("blh,blwh->blw", self.query(inputs), keys) / units**0.5
        scores = (scores + self.age.flip(0)).masked_fill(~is_seen, -torch.inf)
        recalled = torch.einsum("blw,blwh->blh", scores.softmax(dim=2), values)
        later = tokens[:, windows[:, 1:]] * is_seen[:, :, 1:, None]
        return recalled, later.reshape(count, length, self.size)


class Network(nn.Module):
    """Encoding, memory, and a head for the logits of actions and the value."""

    scale: Tensor

    def __init__(
        self, scale: npt.NDArray[np.float32], kind: str, units: int, window: int, actions: int
    ) -> None:
        """Create random weights; `scale`, float32[D], has factors of the inputs."""
        super().__init__()
        self.register_buffer("scale", torch.from_numpy(scale), persistent=False)
        self.encode, self.head = nn.Linear(len(scale), units), nn.Linear(2 * units, actions + 1)
        self.memory = Gru(units) if kind == "gru" else Attention(units, window)
        nn.init.orthogonal_(self.encode.weight, 2.0**0.5)
        nn.init.orthogonal_(self.head.weight[:-1], 0.01)
        for layer in (self.encode, self.head):
            nn.init.zeros_(layer.bias)

    def forward(self, rows: Tensor, is_new: Tensor, memory: Tensor) -> tuple[Tensor, Tensor]:
        """Evaluate sequences of observations int8[B, L, D]; see `Gru.forward`.

        Returns:
            Logits and value, float32[B, L, A + 1], and the memory after each decision, float32[B, L, size].
        """
        inputs = F.relu(self.encode(rows.float() * self.scale))
        recalled, memories = self.memory(inputs, is_new, memory)
        return self.head(torch.cat([inputs, recalled], dim=2)), memories

    def arrays(self) -> dict[str, npt.NDArray[np.float32]]:
        """Return the arrays of `agents.policy.memory`, for unscaled observations."""
        result = {name: value.detach().cpu().numpy() for name, value in self.state_dict().items()}
        result["encode.weight"] = result["encode.weight"] * self.scale.cpu().numpy()
        return result


def log_probs_of(logits: Tensor, masks: Tensor) -> Tensor:
    """Return the log probabilities of actions, of illegal ones about -1e9."""
    return torch.log_softmax(logits.masked_fill(masks == 0, -1e9), dim=-1)


# The rollout -----------------------------------------------------------------------------------------------


def sequences_of(
    seats: npt.NDArray[np.int32], players: int
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return the steps at which each seat of each game decided, game after game, from seats int32[T, N].

    Returns:
        The steps, int64[B, L], of which the last one is repeated at the end, and their numbers, int64[B].
    """
    games = seats.shape[1]
    of = (np.arange(games) * players + seats).ravel()  # the sequence of each row, step after step
    order = np.argsort(of, kind="stable")
    lengths = np.bincount(of, minlength=games * players)
    starts = np.cumsum(lengths) - lengths
    places = np.minimum(np.arange(lengths.max()), np.maximum(lengths[:, np.newaxis] - 1, 0))
    found = order[np.minimum(starts[:, np.newaxis] + places, len(order) - 1)]
    return found // games, lengths


class Rollout:
    """T steps of N games, and the memories that their seats had before."""

    def __init__(self, env: VectorEnv, steps: int, memory_size: int) -> None:
        shape, buffers = (steps, env.num_envs), env.games.buffers
        self.observations = np.zeros((*shape, buffers.observation.shape[1]), np.int8)
        self.masks = np.zeros((*shape, buffers.action_mask.shape[1]), np.int8)
        self.seats = np.zeros(shape, np.int32)
        self.is_new = np.zeros(shape, np.bool_)
        self.actions = np.zeros(shape, np.int64)
        self.log_probs = np.zeros(shape, np.float32)
        self.values = np.zeros(shape, np.float32)
        self.rewards = np.zeros((*shape, env.players), np.float32)
        self.terminations = np.zeros(shape, np.bool_)
        self.memories = torch.zeros((env.num_envs, env.players, memory_size))


class Games:
    """The games of a learner, with the memory of each seat.

    A seat's round is new if there are more cards to draw than at its last decision, as for the agent that
    plays the network, or if the episode is.
    """

    def __init__(self, args: Args, memory_size: int, seed: int) -> None:
        """Start games; raise a `MilleBornesError` if there is no such table."""
        self.env = vector_env(args.num_envs, seed=seed, num_threads=args.threads, **args.env_options)
        self.env.reset()
        names = {section.name: section.start for section in self.env.observation_sections}
        self._pile = names.get("draw_pile")
        self._games = np.arange(args.num_envs)
        self._piles = np.full((args.num_envs, self.env.players), -1, np.int64)
        self.memories = torch.zeros((args.num_envs, self.env.players, memory_size), device=args.device)

    def collect(self, network: Network, rollout: Rollout, generator: torch.Generator) -> None:
        """Play the steps of a rollout, each action sampled."""
        env, buffers, device = self.env, self.env.games.buffers, self.memories.device
        rollout.memories = self.memories.clone()
        for step in range(len(rollout.seats)):
            rollout.observations[step], rollout.masks[step] = buffers.observation, buffers.action_mask
            seats = rollout.seats[step] = env.agent_selection
            piles = 0 if self._pile is None else rollout.observations[step, :, self._pile].astype(np.int64)
            rollout.is_new[step] = piles > self._piles[self._games, seats]
            self._piles[self._games, seats] = piles
            rows, new, masks = (
                torch.from_numpy(array[step]).to(device)
                for array in (rollout.observations, rollout.is_new, rollout.masks)
            )
            where = torch.from_numpy(self._games).to(device), torch.from_numpy(seats).long().to(device)
            with torch.no_grad():
                outputs, memories = network(rows[:, None], new[:, None], self.memories[where])
                self.memories[where] = memories[:, 0]
                log_probs = log_probs_of(outputs[:, 0, :-1], masks)
                noise = torch.rand(log_probs.shape, generator=generator).to(device).clamp_(1e-10, 1 - 1e-7)
                actions = (log_probs - torch.log(-torch.log(noise))).argmax(dim=1)
                chosen = log_probs.gather(1, actions[:, None])[:, 0]
            rollout.actions[step], rollout.log_probs[step] = actions.cpu().numpy(), chosen.cpu().numpy()
            rollout.values[step] = outputs[:, 0, -1].cpu().numpy()
            _, rollout.rewards[step], ended, _, _ = env.step(rollout.actions[step])
            rollout.terminations[step] = ended
            self._piles[np.asarray(ended)] = -1  # all seats begin anew


# The loss --------------------------------------------------------------------------------------------------


class Batch(NamedTuple):
    """Sequences to learn from: B of at most L decisions."""

    rows: Tensor  # int8[B, L, D]
    is_new: Tensor  # bool[B, L]
    memory: Tensor  # float32[B, size]
    masks: Tensor  # int8[B, L, A]
    actions: Tensor  # int64[B, L]
    log_probs: Tensor  # float32[B, L]
    advantages: Tensor  # float32[B, L]
    returns: Tensor  # float32[B, L]
    counts: Tensor  # float32[B, L] 1 where a decision counts: in the sequence, with a successor


def loss_of(network: Network, batch: Batch, args: Args, ent_coef: float) -> tuple[Tensor, dict[str, float]]:
    """Return PPO's loss of a minibatch (Schulman et al. 2017), and its parts by name."""
    outputs, _ = network(batch.rows, batch.is_new, batch.memory)
    log_probs = log_probs_of(outputs[..., :-1], batch.masks)
    total = batch.counts.sum().clamp(min=1)  # perhaps no seat of these games has decided twice

    def mean(values: Tensor) -> Tensor:
        return (values * batch.counts).sum() / total

    taken = log_probs.gather(2, batch.actions[..., None])[..., 0]
    ratio = (taken - batch.log_probs).exp()
    clipped = ratio.clamp(1 - args.clip_range, 1 + args.clip_range)
    policy_loss = -mean(torch.minimum(batch.advantages * ratio, batch.advantages * clipped))
    value_loss = 0.5 * mean((outputs[..., -1] - batch.returns).square())
    entropy = -mean((log_probs.exp() * log_probs).sum(dim=2))
    loss = policy_loss + args.vf_coef * value_loss - ent_coef * entropy
    parts = {"policy_loss": policy_loss, "value_loss": value_loss, "entropy": entropy}
    return loss, {name: float(part.detach()) for name, part in parts.items()}


# The learner -----------------------------------------------------------------------------------------------


class Learner(LibraryLearner):
    """Network, moving average, optimizer and games: see `train.common.runs.Learner`.

    Attributes:
        games: the games.
        ema_network: the moving average, which is the saved policy.
    """

    trained_by = "train.recurrent_ppo"
    network: Network

    def __init__(self, args: Args) -> None:
        """Start games, and create a network; raise a `MilleBornesError` if there is no such table."""
        torch.manual_seed(args.seed)
        table, self.args = args.table(), args
        size = args.layers[0], args.window, table.num_actions
        network = Network(observation_scale(table), args.memory, *size).to(args.device)
        optimizer = torch.optim.Adam(network.parameters(), args.learning_rate, eps=1e-5)
        super().__init__(network, optimizer, [], table, "relu")
        self.ema_network = copy.deepcopy(network)
        self.games = Games(args, network.memory.size, args.seed)
        self._rollout = Rollout(self.games.env, args.num_steps, network.memory.size)
        self._updates = 0

    def update(self, share: float) -> dict[str, float]:
        """Play a rollout and learn from it, at a completed share of the run; return statistics by name."""
        args, rollout = self.args, self._rollout
        generator = torch.Generator().manual_seed(hash((args.seed, self._updates)) & 0x7FFFFFFF)
        self.games.collect(self.network, rollout, generator)
        data, learned = self._data()
        ent_coef = linear_schedule(args.ent_coef, args.final_ent_coef, share)
        for group in self.optimizer.param_groups:
            group["lr"] = linear_schedule(args.learning_rate, args.final_learning_rate, share)
        sums: dict[str, float] = {}
        batches = min(max(rollout.seats.size // args.batch_size, 1), args.num_envs)
        for _ in range(args.num_epochs):
            for games in torch.randperm(args.num_envs, generator=generator).tensor_split(batches):
                players = self.games.env.players
                at = (games[:, None] * players + torch.arange(players)).flatten().to(args.device)
                loss, parts = loss_of(self.network, Batch._make(part[at] for part in data), args, ent_coef)
                self.check_loss(loss.item())
                self.optimizer.zero_grad()
                loss.backward()  # type: ignore[no-untyped-call]
                nn.utils.clip_grad_norm_(self.network.parameters(), args.max_grad_norm)
                self.optimizer.step()
                sums = {name: sums.get(name, 0.0) + part for name, part in parts.items()}
        self._updates += 1
        self._decisions += learned
        decay = min(args.ema_decay, self._updates / (self._updates + 10))
        for mean, value in zip(self.ema_network.parameters(), self.network.parameters(), strict=True):
            mean.data.lerp_(value.data, 1.0 - decay)
        return {name: part / (batches * args.num_epochs) for name, part in sums.items()}

    def _data(self) -> tuple[Batch, int]:
        """Return the sequences of the rollout, and the number of decisions to learn from."""
        args, rollout = self.args, self._rollout
        transitions = transitions_of(rollout.seats, rollout.rewards, rollout.terminations)
        advantages, returns = advantages_of(
            transitions, rollout.values, gamma=args.gamma, gae_lambda=args.gae_lambda
        )
        counted = transitions.is_complete
        if not counted.any():
            raise ValueError(f"no seat decides twice in --num-steps {args.num_steps}: give more steps")
        advantages = (advantages - advantages[counted].mean()) / (advantages[counted].std() + 1e-8)
        players = self.games.env.players
        rows, lengths = sequences_of(rollout.seats, players)
        games = np.repeat(np.arange(args.num_envs), players)[:, np.newaxis]
        counts = counted[rows, games] & (np.arange(rows.shape[1]) < lengths[:, np.newaxis])

        def chosen(array: npt.NDArray[Any]) -> Tensor:
            return torch.from_numpy(array[rows, games]).to(args.device)

        batch = Batch(
            chosen(rollout.observations),
            chosen(rollout.is_new),
            rollout.memories.flatten(0, 1),
            chosen(rollout.masks),
            chosen(rollout.actions),
            chosen(rollout.log_probs),
            chosen(advantages.astype(np.float32)),
            chosen(returns.astype(np.float32)),
            torch.from_numpy(counts.astype(np.float32)).to(args.device),
        )
        return batch, int(counts.sum())

    def save_policy(self, folder: Path) -> None:
        """Write the moving average in the format of `agents.policy.memory`."""
        args, table, spec = self.args, self._table, usual_input(self._table)
        arrays = self.ema_network.arrays()
        assert set(NAMES[args.memory]) < set(arrays)
        description = {
            "trained_by": self.trained_by,
            "decisions_trained": self.decisions,
            "game": table.game,
            "editions": [table.edition],
            **describe_table(table, spec),
            "num_actions": table.num_actions,
            "view": {name: bool(shown) for name, shown in spec.observation._asdict().items()},
            "features": spec.features,
            "value": args.chosen_reward,
            "memory": args.memory,
            "units": args.layers[0],
            "window": args.window,
        }
        FILES.save(folder, arrays, description)

    def checkpoint(self) -> tuple[dict[str, Tensor], dict[str, Any]]:
        """Return weights, moving average, optimizer and counters; the games begin anew after a resume."""
        tensors, progress = super().checkpoint()
        tensors |= {f"average.{name}": value for name, value in self.ema_network.state_dict().items()}
        return tensors, {**progress, "updates": self._updates}

    def restore(self, tensors: dict[str, Tensor], progress: dict[str, Any]) -> None:
        """Continue from the result of `checkpoint`, with other games than those already learned from."""
        super().restore(tensors, progress)
        self.ema_network.load_state_dict(with_prefix(tensors, "average."))
        self._updates = int(progress["updates"])
        if self._updates:
            seeds = np.random.SeedSequence((self.args.seed, self._updates))
            self.games = Games(self.args, self.network.memory.size, int(seeds.generate_state(1)[0]))


# The run ---------------------------------------------------------------------------------------------------


def check(args: Args) -> None:
    """Check the options; raise a `ValueError` that names the option."""
    check_training(args)
    check_counts(args, "window")
    if args.window > MOST_WINDOW:
        raise ValueError(f"--window is {args.window}: agents remember at most {MOST_WINDOW} decisions")
    if args.table().varies:
        raise ValueError(f"--edition is the split {args.edition!r}: networks with memory learn at one table")
    if len(args.layers) != 1:
        raise ValueError(f"--hidden is given {len(args.layers)} times: a network with memory has one width")
    try:
        torch.zeros(1, device=args.device)
    except (RuntimeError, AssertionError) as error:
        raise ValueError(f"--device {args.device} cannot be used here ({error}): try cpu") from None


def train(args: Args) -> Run:
    """Train, or resume training, until the budget is spent or a signal stops the run.

    Raises:
        RunError: the folder cannot be used.
        ValueError: the table or another option is invalid.
        LossError: a loss became NaN or infinite.
        Stopped: a signal (Ctrl-C, SIGTERM or SIGHUP); a checkpoint was written.
    """
    check(args)
    torch.set_num_threads(args.threads)
    with Stops() as stops, Run(args, CHECKPOINT_KIND, f"PPO, {args.memory}") as run:
        learner = Learner(args)
        run.warm_up(learner)
        run.begin(learner)
        run.train(stops, learner.update)
    print(f"{run.summary()}; run folder: {run.folder}")
    return run


def main() -> int:
    """Run the command line; return the exit status."""
    return run_training(Args, __doc__, lambda args: train(args).problem, lambda args: args.run_dir)


if __name__ == "__main__":
    sys.exit(main())
