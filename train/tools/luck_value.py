"""Fit the network that values luck (`--aivat` of the arena) to games of some agents.

    python -m train.tools.luck_value --out runs/luck --players 4 --agent arnold --agent strategist
    python -m millebornes_env arena arnold strategist --players 4 --aivat --luck-value runs/luck

The agents play rounds in all lineups of different agents. After some draws a game is branched: each branch
draws another card, and almost all else is equal (`train.tools.luck_games`). A network that sees all hands
learns to predict the differences between branches and, less exactly, their outcomes. In the first stage
branches are played to the end of the round. In later stages the network of the previous stage evaluates them
after `--horizon` more draws, which is faster and has far less noise. A network fitted to some agents is
unbiased for all (see `millebornes_env.arena.luck.aivat`); other agents only gain less.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Final

import numpy as np
import numpy.typing as npt
import torch
import torch.nn.functional
import tyro
from torch import Tensor, nn

from millebornes_env import agents
from millebornes_env._util.command_line import run_command
from millebornes_env._util.files import locked
from millebornes_env._util.network_files import MANTISSA_BITS, Layers, arrays_of, in_half_precision
from millebornes_env.agents.policy.network import MAX_UNITS
from millebornes_env.agents.protocol import Agent, is_compiled
from millebornes_env.arena.batch import roles_of
from millebornes_env.arena.dealing import compiled_rules, dealt_batch, loops_of, settings_of
from millebornes_env.arena.estimates import luck_reduction, variance_reduction
from millebornes_env.arena.luck.aivat import INPUTS_VERSION, POINTS_OF_VALUE, num_inputs
from millebornes_env.arena.luck.value_files import FILES, layers_for
from millebornes_env.arena.luck.value_network import ValueNetwork, value_network
from millebornes_env.arena.match import MatchConfig, agent_seed, play
from millebornes_env.games.millebornes.cards import DECK_SIZE
from millebornes_env.games.registry import edition as find_edition
from millebornes_env.games.registry import game as find_game
from train.common.options import check_counts, check_shares, parse_options
from train.tools.luck_games import MOVED, SIGNS, Branches, Plan, collect, lineups_of

_AGENTS: Final = ("champion", "arnold", "strategist")
_SEED_OF_TEST: Final = 0x6C75636B  # deals that the network was not fitted to
_SEED_OF_SCALE: Final = 0x7363616C  # deals that determine the scale
_UNITS: Final = (256, 32)  # default units of the two layers
_LEAST_SHARE: Final = 0.001
_LAST_RATE: Final = 0.02  # final learning rate, as a share of the initial one
_MEAN_COEF: Final = 0.1  # weight of the mean of a draw's branches in the loss: its noise is ten times larger

Floats = npt.NDArray[Any]


@dataclass(frozen=True)
class Args:
    """The options of the command line."""

    out: Path
    """folder that the network is written to; it must not hold one yet"""
    agent: Annotated[tuple[str, ...], tyro.conf.UseAppendAction] = ()
    """a compiled agent to learn from; repeat it for several (default: champion, arnold, strategist)"""
    edition: str = "parker"
    """rule sheet that is played"""
    players: int = 2
    """seats at the table"""
    teams: int | None = None
    """teams at the table (default: as usual for the sheet)"""
    draws: int = 300_000
    """number of draws to branch and learn from in each stage"""
    stages: int = 20
    """number of stages; the first plays branches to the end, unless --start is given"""
    start: Path | None = None
    """folder of a network to start from; missing units are added to it"""
    branches: int = 4
    """branches of a draw"""
    share: float = 0.2
    """share of the draws to branch, 0.001 to 1"""
    horizon: int = 8
    """draws in a branch before it is evaluated, in later stages (two teams only); 0: play to the end"""
    hidden: int | None = None
    """units of the first layer (default: 256, or those of --start)"""
    second: int | None = None
    """units of the second layer (default: 32, or those of --start)"""
    epochs: int = 2
    """passes over the draws of a stage"""
    batch_size: int = 1024
    """minibatch size in draws"""
    learning_rate: float = 1e-3
    """initial learning rate of Adam; it decays to 1/50 over all stages"""
    bits: int = 10
    """mantissa bits of the written weights, 1 to 10; with 5 they compress to half the size"""
    seed: int = 1
    """seed of the deals and of the network"""
    deals: int = 4000
    """deals of each lineup for the measurement of the gain"""
    threads: int = 1
    """CPU threads"""

    @property
    def names(self) -> tuple[str, ...]:
        """Specs of the agents, without duplicates."""
        return tuple(dict.fromkeys(self.agent or _AGENTS))

    @property
    def config(self) -> MatchConfig:
        """The table of the games."""
        return MatchConfig(
            self.edition, self.players, self.teams, episode="round", seed=self.seed, threads=self.threads
        )

    @property
    def plan(self) -> Plan:
        """The plan of branching games."""
        return Plan(self.branches, self.share, self.horizon)


class LuckValue(nn.Module):
    """The value network as a PyTorch module."""

    def __init__(self, inputs: int, hidden: int, second: int) -> None:
        super().__init__()
        self.rows = nn.Parameter(0.1 * torch.randn(inputs, hidden))
        self.bias = nn.Parameter(torch.zeros(hidden))
        self.second = nn.Linear(hidden, second)
        self.last = nn.Linear(second, 1)
        with torch.no_grad():
            self.rows[0] = 0.0

    def forward(self, ones: Tensor, moves: Tensor) -> Tensor:
        """Evaluate branches, float32[N, K]; `ones` and `moves` as in `Branches`."""
        draws, branches = moves.shape[:2]
        bag = torch.nn.functional.embedding_bag
        base = bag(ones, self.rows, mode="sum", padding_idx=0) + self.bias
        signs = torch.tensor(SIGNS).expand(draws * branches, MOVED)
        moved = bag(moves.reshape(-1, MOVED), self.rows, mode="sum", per_sample_weights=signs, padding_idx=0)
        hidden = torch.relu(base.unsqueeze(1) + moved.reshape(draws, branches, -1))
        value: Tensor = self.last(torch.relu(self.second(hidden))).squeeze(2)
        return value

    def load(self, layers: Layers) -> None:
        """Copy a network with at most as many units; its function is preserved (Net2Net, Chen et al. 2016).

        Added units keep their random input weights; their weights into existing units are set to 0.
        """
        units, seconds, _ = (len(bias) for _, bias in layers)
        with torch.no_grad():
            self.second.weight[:seconds, units:] = 0.0
            self.last.weight[:, seconds:] = 0.0
            for ours, theirs in zip(self._layers(), layers, strict=True):
                for part, array in zip(ours, theirs, strict=True):
                    part[tuple(slice(size) for size in array.shape)] = torch.from_numpy(array)

    def _layers(self) -> tuple[tuple[Tensor, Tensor], ...]:
        """Return weight [outputs, inputs] and bias of each layer."""
        second, last = self.second, self.last
        return (self.rows.T, self.bias), (second.weight, second.bias), (last.weight, last.bias)

    def layers(self) -> Layers:
        """Return a copy of the weights in float32, rounded to float16."""
        layers = [(weight.detach().numpy(), bias.detach().numpy()) for weight, bias in self._layers()]
        return rounded(layers, MANTISSA_BITS)


class Learner:
    """A model with its optimizer and learning rate schedule over all stages."""

    def __init__(self, model: LuckValue, args: Args) -> None:
        self._model, self._args = model, args
        self._optimizer = torch.optim.Adam(model.parameters(), lr=args.learning_rate, betas=(0.9, 0.99))
        steps = args.stages * args.epochs * (args.draws // args.batch_size)
        self._schedule = torch.optim.lr_scheduler.LinearLR(
            self._optimizer, 1.0, _LAST_RATE, total_iters=max(steps, 1)
        )

    def learn(self, found: Branches, stage: int) -> float:
        """Learn from one stage; return the explained variance between branches in the last epoch."""
        args, squares, variance = self._args, 0.0, 0.0
        random = np.random.default_rng(agent_seed(args.seed, stage))
        for _ in range(args.epochs):
            order, squares, variance = random.permutation(len(found.lead)), 0.0, 0.0
            for first in range(0, len(order) - args.batch_size + 1, args.batch_size):
                chosen = np.sort(order[first : first + args.batch_size])
                lead = torch.from_numpy(found.lead[chosen])
                inputs = (torch.from_numpy(part[chosen].astype(np.int32)) for part in found[:2])
                error = self._model(*inputs) - lead
                level = error.mean(dim=1, keepdim=True)
                between = ((error - level) ** 2).mean()
                self._optimizer.zero_grad(set_to_none=True)
                (between + _MEAN_COEF * (level**2).mean()).backward()
                self._optimizer.step()
                self._schedule.step()
                squares += float(between.detach())
                variance += float((lead - lead.mean(dim=1, keepdim=True)).square().mean())
        return 1.0 - squares / variance if variance else 0.0


def fit(args: Args) -> Layers:
    """Fit a network and write it after each stage; return its layers."""
    torch.set_num_threads(args.threads)
    torch.manual_seed(args.seed)
    rules = args.config.rules
    layers = None if args.start is None else unscaled(args.config, args.start)
    model = LuckValue(num_inputs(rules.players, rules.teams), *units_of(args, layers))
    if layers is not None:
        model.load(layers)
    learner = Learner(model, args)
    for stage in range(args.stages):
        start = time.perf_counter()
        config = replace(args.config, seed=agent_seed(args.seed, stage))
        network = None if layers is None else value_network(layers)
        result = collect(config, args.names, network, args.draws, args.plan)
        played = time.perf_counter()
        explained = learner.learn(result, stage)
        layers = model.layers()
        # if the process is stopped, the stages so far are kept
        FILES.save(args.out, in_half_precision(arrays_of(layers)), description(args, layers, stage + 1))
        print(
            f"stage {stage + 1} of {args.stages}: {len(result.lead):,} draws, standard deviation between "
            f"branches {POINTS_OF_VALUE * result.lead.std(axis=1).mean():,.0f} points, "
            f"{100 * explained:.1f} % of the variance explained; {played - start:.0f} s of play, "
            f"{time.perf_counter() - played:.0f} s of learning",
            flush=True,
        )
    assert layers is not None, "there is one stage or more"
    scale = scale_of(args, layers)
    if not scale > 0:
        raise ValueError(
            f"the network has learned nothing yet: the best scale of its luck is {100 * scale:.0f} %. "
            f"Continue with --start {args.out}"
        )
    print(f"scale of the luck: {100 * scale:.0f} %", flush=True)
    layers = rounded(scaled(layers, scale), args.bits)
    about = description(args, layers, args.stages, scale)
    FILES.save(args.out, in_half_precision(arrays_of(layers)), about)
    return layers


def scaled(layers: Layers, scale: float) -> Layers:
    """Return a network whose output is `scale` times that of another."""
    *others, (weight, bias) = layers
    return [*others, (weight * np.float32(scale), bias * np.float32(scale))]


def units_of(args: Args, start: Layers | None) -> tuple[int, int]:
    """Return the units of the first and of the second layer.

    Raises:
        ValueError: the network to start from has more, or the arena supports fewer.
    """
    has = _UNITS if start is None else (len(start[0][1]), len(start[1][1]))
    wanted = (args.hidden or has[0], args.second or has[1])
    for name, units, own in zip(("hidden", "second"), wanted, has, strict=True):
        if units > MAX_UNITS:
            raise ValueError(f"--{name} is {units}; the arena supports at most {MAX_UNITS}")
        if start is not None and units < own:
            raise ValueError(
                f"--{name} is {units}, but that layer of --start has {own} units: units can be added, not "
                "removed"
            )
    return wanted


def rounded(layers: Layers, bits: int) -> Layers:
    """Round weights to float16 with this many of its 10 mantissa bits."""
    arrays = in_half_precision(arrays_of(layers), bits)
    parts = [array.astype(np.float32) for array in arrays.values()]
    return list(zip(parts[::2], parts[1::2], strict=True))


def unscaled(config: MatchConfig, folder: Path) -> Layers:
    """Load a network of this script as it was before scaling.

    Raises:
        ArenaError: there is no network, or it is of another table.
        ValueError: its scale is not positive.
    """
    layers = layers_for(config.game, config.rules, str(folder))
    scale = float(FILES.read_description(folder).get("scale", 1.0))
    if not scale > 0:
        raise ValueError(f"the network in {str(folder)!r} was scaled by {scale}: leave out --start")
    return scaled(layers, 1.0 / scale)


def description(args: Args, layers: Layers, stages: int, scale: float = 1.0) -> dict[str, Any]:
    """Return the contents of `value.json` after this many stages."""
    sizes = {"hidden": len(layers[0][1]), "second": len(layers[1][1])}
    rules = args.config.rules
    options = {name: value for name, value in asdict(args).items() if name not in ("out", "start", "threads")}
    return {
        "game": args.config.game.name,
        "players": rules.players,
        "teams": rules.teams,
        "inputs_version": INPUTS_VERSION,
        "editions": [args.edition],
        "fitted_by": "train.tools.luck_value",
        "options": {**options, "agent": list(args.names), "stages": stages, **sizes},
        "begun_with": [] if args.start is None else runs_of(args.start),
        "scale": scale,
    }


def runs_of(folder: Path) -> list[Any]:
    """Return the options of all runs that led to a network, oldest first."""
    about = FILES.read_description(folder)
    before = about.get("begun_with") or []
    return [*(before if isinstance(before, list) else [before]), about.get("options")]


def scale_of(args: Args, layers: Layers) -> float:
    """Return the regression coefficient of leads on luck, over deals of its own.

    Duplicate deals subtract the luck times this scale, because a noisy network overestimates luck.
    """
    config = replace(args.config, seed=agent_seed(args.seed, _SEED_OF_SCALE), aivat=True)
    leads, luck, network = [], [], value_network(layers)
    for lineup in lineups_of(args.names, config.rules.teams):
        roles = [agents.make(spec, config.table(), config.seed) for spec in lineup]
        outcome = play_valued(roles, config, args.deals, network)
        leads.append(outcome[0] - outcome[0].mean())
        luck.append(outcome[1])
    squares = float((np.concatenate(luck) ** 2).sum())
    return float(np.concatenate(leads) @ np.concatenate(luck)) / squares if squares else 0.0


def play_valued(
    roles: Sequence[Agent], config: MatchConfig, deals: int, network: ValueNetwork
) -> tuple[Floats, Floats]:
    """Return lead and luck of role 0 in each deal, means over the rotations, in thousands of points."""
    batch = dealt_batch(config, 0, deals, network)
    who = roles_of([agent for agent in roles if is_compiled(agent)])
    loops_of(config).play_games(batch, compiled_rules(config), settings_of(config), who)
    lead = (batch.points[:, 0] - batch.points[:, 1:].mean(axis=1)) / POINTS_OF_VALUE
    rotations = config.rules.teams
    luck = (batch.luck[:, 0] - batch.luck[:, 1:].mean(axis=1)) / POINTS_OF_VALUE
    return lead.reshape(rotations, deals).mean(axis=0), luck.reshape(rotations, deals).mean(axis=0)


def measure(args: Args) -> None:
    """Print the variance reduction of each lineup, in deals that the network was not fitted to."""
    seed = agent_seed(args.seed, _SEED_OF_TEST)
    config = replace(args.config, seed=seed, aivat=True, luck_value=str(args.out))
    for lineup in lineups_of(args.names, config.rules.teams):
        outcome = play(list(lineup), config, args.deals)
        streams = variance_reduction(outcome).ratio
        saved = luck_reduction(outcome).ratio
        print(
            f"{' - '.join(lineup)}: duplicate deals reduce the rounds needed by a factor of "
            f"{streams or 0:.2f}, the value of luck the deals by {saved or 0:.2f} more",
            flush=True,
        )


def main() -> int:
    """Run the command line; return the exit status."""
    return run_command(_command)


def _command() -> None:
    args = parse_options(Args, __doc__)
    find_game(find_edition(args.edition).game).hook("arena.luck", "train.tools.luck_value")
    layers = [name for name in ("hidden", "second") if getattr(args, name) is not None]
    check_counts(args, "draws", "stages", *layers, "epochs", "batch_size", "deals", "threads", "players")
    check_shares(args, "share")
    if args.share < _LEAST_SHARE:
        raise ValueError(
            f"--share is {args.share}; it must be {_LEAST_SHARE} or more, or too few draws are branched"
        )
    if not 2 <= args.branches <= DECK_SIZE:
        raise ValueError(f"--branches is {args.branches}; it must be from 2 to {DECK_SIZE}")
    if args.deals < 2:
        raise ValueError("--deals is 1; the scale of the luck needs 2 or more")
    if not args.config.rules.count_points:
        raise ValueError(f"--edition {args.edition} counts no points, the unit of luck")
    if args.draws < args.batch_size:
        raise ValueError(f"--draws is {args.draws}; it must be --batch-size, {args.batch_size}, or more")
    if not 1 <= args.bits <= MANTISSA_BITS:
        raise ValueError(f"--bits is {args.bits}; it must be from 1 to {MANTISSA_BITS}")
    if args.horizon < 0:
        raise ValueError(f"--horizon is {args.horizon}; it must be 0 or more")
    if args.config.rules.teams > 2 and args.horizon:
        raise ValueError("at a table of more than two teams, give --horizon 0")
    if (args.out / FILES.description_file).exists():
        raise ValueError(f"{str(args.out)!r} already holds a value of luck: choose another --out")
    table = args.config.table()
    for spec in args.names:
        if not is_compiled(agents.make(spec, table)):
            raise ValueError(f"{spec}: only games of compiled agents can be learned from")
    if len(args.names) == 1:
        raise ValueError(
            "--agent is given once: duplicate deals leave no luck in games of an agent with itself; give two"
        )
    units_of(args, None if args.start is None else unscaled(args.config, args.start))
    refusal = ValueError(f"another process fits into {str(args.out)!r}: wait for it, or choose another --out")
    with locked(args.out / "fit.lock", refusal):
        fit(args)
        measure(args)
    print(f"wrote {args.out}")


if __name__ == "__main__":
    sys.exit(main())
