"""Fit the network that values luck (`--aivat` of the arena) to games of some agents.

    python -m train.tools.luck_value --out runs/luck --edition parker --players 4 --agent arnold --agent
    strategist python -m millebornes_env compare arnold strategist --players 4 --aivat --luck-value runs/luck

The agents play rounds in all lineups of different ones. After some draws a game is branched: in each branch
another card was drawn, and almost all else is the same (`train.tools.luck_games`). A network that sees all
hands learns to foretell by how much the branches differ and, less exactly, what they come to. In the first
stage branches are played to the end of the round. In later ones the network of the stage before values them
after `--horizon` more draws, which is quicker and has far less noise. A network that was fitted to some
agents is right for all, as `millebornes_env.arena.luck.aivat` proves; others only gain less.
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
from millebornes_env._util.network_files import Layers, arrays_of, in_half_precision
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
_SEED_OF_SCALE: Final = 0x7363616C  # deals that say how much of the luck is taken off
_UNITS: Final = (256, 32)  # of the two layers, if nothing else is said
_PLACES: Final = 10  # binary places of a float16
_LEAST_SHARE: Final = 0.001
_LAST_RATE: Final = 0.02  # of the learning rate, at the end
_LEVEL: Final = 0.1  # what the mean of a draw's branches counts: the noise of a mean is that much larger

Floats = npt.NDArray[Any]


@dataclass(frozen=True)
class Args:
    """The options of the command line."""

    out: Path
    """folder that the network is written to; it must not hold one yet"""
    agent: Annotated[tuple[str, ...], tyro.conf.UseAppendAction] = ()
    """a compiled agent whose games are learned from; once for each (default: champion, arnold, strategist)"""
    edition: str = "parker"
    """rule sheet that is played"""
    players: int = 2
    """seats at the table"""
    teams: int | None = None
    """teams at the table (default: as usual for the sheet)"""
    draws: int = 300_000
    """draws that are branched and learned from in each stage"""
    stages: int = 20
    """how many stages; the first is played to the end, unless there is --start"""
    start: Path | None = None
    """folder of a network to go on from; more units than it has are added to it"""
    branches: int = 4
    """branches of a draw"""
    share: float = 0.2
    """share of the draws that are branched, 0.001 to 1"""
    horizon: int = 8
    """cards drawn in a branch until it is valued, in later stages (two teams only); 0: played to the end"""
    hidden: int | None = None
    """units of the first layer (default: 256, or those of --start)"""
    second: int | None = None
    """units of the second layer (default: 32, or those of --start)"""
    epochs: int = 2
    """passes over the draws of a stage"""
    batch_size: int = 1024
    """draws in one gradient step"""
    learning_rate: float = 1e-3
    """learning rate of Adam at the beginning; it falls to a fiftieth over all stages"""
    bits: int = 10
    """binary places of the weights that are written, 1 to 10; with 5 they pack into half the room"""
    seed: int = 1
    """seed of the deals and of the network"""
    deals: int = 4000
    """deals of each lineup to measure the gain in"""
    threads: int = 1
    """CPU threads"""

    @property
    def names(self) -> tuple[str, ...]:
        """The agents, each once, by their names."""
        return tuple(dict.fromkeys(self.agent or _AGENTS))

    @property
    def config(self) -> MatchConfig:
        """The matches to play."""
        return MatchConfig(
            self.edition, self.players, self.teams, episode="round", seed=self.seed, threads=self.threads
        )

    @property
    def plan(self) -> Plan:
        """The plan of branching games."""
        return Plan(self.branches, self.share, self.horizon)


class LuckValue(nn.Module):
    """The value network as PyTorch learns it."""

    def __init__(self, inputs: int, hidden: int, second: int) -> None:
        """Make one of random weights."""
        super().__init__()
        self.rows = nn.Parameter(0.1 * torch.randn(inputs, hidden))
        self.bias = nn.Parameter(torch.zeros(hidden))
        self.second = nn.Linear(hidden, second)
        self.last = nn.Linear(second, 1)
        with torch.no_grad():
            self.rows[0] = 0.0

    def forward(self, ones: Tensor, moves: Tensor) -> Tensor:
        """The values of branches, float32[N, K].

        Args:
            ones: int[N, W], as in `Branches`.
            moves: int[N, K, MOVED], likewise.
        """
        draws, branches = moves.shape[:2]
        bag = torch.nn.functional.embedding_bag
        base = bag(ones, self.rows, mode="sum", padding_idx=0) + self.bias
        signs = torch.tensor(SIGNS).expand(draws * branches, MOVED)
        moved = bag(moves.reshape(-1, MOVED), self.rows, mode="sum", per_sample_weights=signs, padding_idx=0)
        hidden = torch.relu(base.unsqueeze(1) + moved.reshape(draws, branches, -1))
        value: Tensor = self.last(torch.relu(self.second(hidden))).squeeze(2)
        return value

    def take(self, layers: Layers) -> None:
        """Go on from a network with as many units or fewer; at first, with its values (Chen et al. 2016).

        A unit that it lacks keeps its random weights, but those by which older units would hear of it are 0.
        """
        units, seconds, _ = (len(bias) for _, bias in layers)
        with torch.no_grad():
            self.second.weight[:seconds, units:] = 0.0
            self.last.weight[:, seconds:] = 0.0
            for ours, theirs in zip(self._layers(), layers, strict=True):
                for part, array in zip(ours, theirs, strict=True):
                    part[tuple(slice(size) for size in array.shape)] = torch.from_numpy(array)

    def _layers(self) -> tuple[tuple[Tensor, Tensor], ...]:
        """Weight [outputs, inputs] and bias of each layer."""
        second, last = self.second, self.last
        return (self.rows.T, self.bias), (second.weight, second.bias), (last.weight, last.bias)

    def layers(self) -> Layers:
        """The weights, copied."""
        return [(_halved(weight), _halved(bias)) for weight, bias in self._layers()]


def _halved(part: Tensor) -> npt.NDArray[np.float32]:
    """A copy in float32, rounded to float16."""
    return part.detach().numpy().astype(np.float16).astype(np.float32)


class Learner:
    """A model, and how it learns over all stages."""

    def __init__(self, model: LuckValue, args: Args) -> None:
        """Begin."""
        self._model, self._args = model, args
        self._optimizer = torch.optim.Adam(model.parameters(), lr=args.learning_rate, betas=(0.9, 0.99))
        steps = args.stages * args.epochs * (args.draws // args.batch_size)
        self._schedule = torch.optim.lr_scheduler.LinearLR(
            self._optimizer, 1.0, _LAST_RATE, total_iters=max(steps, 1)
        )

    def learn(self, found: Branches, stage: int) -> float:
        """One stage; the share of the variance between branches that was foretold in the last epoch."""
        args, squares, variance = self._args, 0.0, 0.0
        random = np.random.default_rng(agent_seed(args.seed, stage))
        for _ in range(args.epochs):
            order, squares, variance = random.permutation(len(found.lead)), 0.0, 0.0
            for first in range(0, len(order) - args.batch_size + 1, args.batch_size):
                chosen = np.sort(order[first : first + args.batch_size])
                lead = torch.from_numpy(found.lead[chosen])
                error = self._model(*(_indices(part[chosen]) for part in found[:2])) - lead
                level = error.mean(dim=1, keepdim=True)
                between = ((error - level) ** 2).mean()
                self._optimizer.zero_grad(set_to_none=True)
                (between + _LEVEL * (level**2).mean()).backward()
                self._optimizer.step()
                self._schedule.step()
                squares += float(between.detach())
                variance += float((lead - lead.mean(dim=1, keepdim=True)).square().mean())
        return 1.0 - squares / variance if variance else 0.0


def _indices(places: npt.NDArray[np.int16]) -> Tensor:
    return torch.from_numpy(places.astype(np.int32))


def fit(args: Args) -> Layers:
    """Fit a network, and write it."""
    torch.set_num_threads(args.threads)
    torch.manual_seed(args.seed)
    rules = args.config.rules
    layers = None if args.start is None else unscaled(args.config, args.start)
    model = LuckValue(num_inputs(rules.players, rules.teams), *units_of(args, layers))
    if layers is not None:
        model.take(layers)
    learner = Learner(model, args)
    for stage in range(args.stages):
        start = time.perf_counter()
        config = replace(args.config, seed=agent_seed(args.seed, stage))
        network = None if layers is None else value_network(layers)
        result = collect(config, args.names, network, args.draws, args.plan)
        played = time.perf_counter()
        foretold = learner.learn(result, stage)
        layers = model.layers()
        # whoever stops it has that much
        FILES.save(args.out, in_half_precision(arrays_of(layers)), description(args, layers, stage + 1))
        print(
            f"stage {stage + 1} of {args.stages}: {len(result.lead):,} draws, standard deviation between "
            f"branches {POINTS_OF_VALUE * result.lead.std(axis=1).mean():,.0f} points, "
            f"{100 * foretold:.1f} % of the variance foretold; {played - start:.0f} s of play, "
            f"{time.perf_counter() - played:.0f} s of learning",
            flush=True,
        )
    assert layers is not None, "there is one stage or more"
    scale = scale_of(args, layers)
    if not scale > 0:
        raise ValueError(
            f"of the luck that the network finds, {100 * scale:.0f} % is best taken off: it knows nothing "
            f"yet. Go on from it with --start {args.out}"
        )
    print(f"of the luck that it finds, {100 * scale:.0f} % is taken off", flush=True)
    layers = rounded(scaled(layers, scale), args.bits)
    about = description(args, layers, args.stages, scale)
    FILES.save(args.out, in_half_precision(arrays_of(layers)), about)
    return layers


def scaled(layers: Layers, scale: float) -> Layers:
    """Return a network whose output is `scale` times that of another."""
    *others, (weight, bias) = layers
    return [*others, (weight * np.float32(scale), bias * np.float32(scale))]


def units_of(args: Args, start: Layers | None) -> tuple[int, int]:
    """Units of the first and of the second layer.

    Raises:
        ValueError: the network to go on from has more, or the arena has no room for so many.
    """
    has = _UNITS if start is None else (len(start[0][1]), len(start[1][1]))
    wanted = (args.hidden or has[0], args.second or has[1])
    for name, units, own in zip(("hidden", "second"), wanted, has, strict=True):
        if units > MAX_UNITS:
            raise ValueError(f"--{name} is {units}; the arena has room for {MAX_UNITS} units")
        if start is not None and units < own:
            raise ValueError(
                f"--{name} is {units}, but the network of --start has {own} units there: units can be "
                "added, not taken away"
            )
    return wanted


def rounded(layers: Layers, bits: int) -> Layers:
    """The weights in float16, with so many of its 10 binary places."""
    step = 1 << (_PLACES - bits)

    def nearest(weights: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        words = weights.astype(np.float16).view(np.uint16).astype(np.int64)
        return ((words + step // 2) // step * step).astype(np.uint16).view(np.float16).astype(np.float32)

    return [(nearest(weight), nearest(bias)) for weight, bias in layers]


def unscaled(config: MatchConfig, folder: Path) -> Layers:
    """A network of this script as it was before a part of the luck was left.

    Raises:
        ArenaError: there is none, or it is of another table.
        ValueError: nothing of it is left.
    """
    layers = layers_for(config.game, config.rules, str(folder))
    scale = float(FILES.read_description(folder).get("scale", 1.0))
    if not scale > 0:
        raise ValueError(f"the network in {str(folder)!r} was scaled by {scale}: begin without --start")
    return scaled(layers, 1.0 / scale)


def description(args: Args, layers: Layers, stages: int, scale: float = 1.0) -> dict[str, Any]:
    """Return the contents of `value.json` after this many stages."""
    units = [len(bias) for _, bias in layers]
    rules = args.config.rules
    options = {name: value for name, value in asdict(args).items() if name not in ("out", "start", "threads")}
    return {
        "game": args.config.game.name,
        "players": rules.players,
        "teams": rules.teams,
        "inputs_version": INPUTS_VERSION,
        "editions": [args.edition],
        "fitted_by": "train.tools.luck_value",
        "options": {
            **options,
            "agent": list(args.names),
            "stages": stages,
            "hidden": units[0],
            "second": units[1],
        },
        "begun_with": [] if args.start is None else runs_of(args.start),
        "scale": scale,
    }


def runs_of(folder: Path) -> list[Any]:
    """The options of all runs that have made a network, the first one first."""
    told = FILES.read_description(folder)
    before = told.get("begun_with") or []
    return [*(before if isinstance(before, list) else [before]), told.get("options")]


def scale_of(args: Args, layers: Layers) -> float:
    """Return the share of luck to subtract from duplicate deals: a noisy network overestimates it.

    The regression coefficient of the leads on the luck, over deals of their own.
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
    """The lead of role 0 and its luck in each deal, means over the rotations, in thousands of points."""
    batch = dealt_batch(config, 0, deals, network)
    who = roles_of([agent for agent in roles if is_compiled(agent)])
    loops_of(config).play_games(batch, compiled_rules(config), settings_of(config), who)
    lead = (batch.points[:, 0] - batch.points[:, 1:].mean(axis=1)) / POINTS_OF_VALUE
    rotations = config.rules.teams
    luck = (batch.luck[:, 0] - batch.luck[:, 1:].mean(axis=1)) / POINTS_OF_VALUE
    return lead.reshape(rotations, deals).mean(axis=0), luck.reshape(rotations, deals).mean(axis=0)


def measure(args: Args) -> None:
    """Print what the network saves, lineup by lineup, in deals that it was not fitted to."""
    seed = agent_seed(args.seed, _SEED_OF_TEST)
    config = replace(args.config, seed=seed, aivat=True, luck_value=str(args.out))
    for lineup in lineups_of(args.names, config.rules.teams):
        outcome = play(list(lineup), config, args.deals)
        streams = variance_reduction(outcome).ratio
        saved = luck_reduction(outcome).ratio
        print(
            f"{' - '.join(lineup)}: duplicate deals save {streams or 0:.2f} times the rounds, "
            f"and the value of luck {saved or 0:.2f} times the deals on top",
            flush=True,
        )


def main() -> int:
    """The command line; returns the exit status."""
    return run_command(_command)


def _command() -> None:
    args = parse_options(Args, __doc__)
    find_game(find_edition(args.edition).game).hook("arena.luck", "train.tools.luck_value")
    layers = [name for name in ("hidden", "second") if getattr(args, name) is not None]
    check_counts(args, "draws", "stages", *layers, "epochs", "batch_size", "deals", "threads", "players")
    check_shares(args, "share")
    if args.share < _LEAST_SHARE:
        raise ValueError(
            f"--share is {args.share}; it must be {_LEAST_SHARE} or more, or hardly a draw is learned"
        )
    if not 2 <= args.branches <= DECK_SIZE:
        raise ValueError(
            f"--branches is {args.branches}; it must be from 2 to {DECK_SIZE}, to tell cards apart"
        )
    if args.deals < 2:
        raise ValueError("--deals is 1; what luck is worth taking off shows in 2 or more")
    if not args.config.rules.count_points:
        raise ValueError(f"--edition {args.edition} counts no points, which luck is valued in")
    if args.draws < args.batch_size:
        raise ValueError(
            f"--draws is {args.draws}, --batch-size {args.batch_size}: not one step would be learned"
        )
    if not 1 <= args.bits <= _PLACES:
        raise ValueError(f"--bits is {args.bits}; it must be from 1 to {_PLACES}")
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
            "one --agent alone: duplicate deals leave no luck in its games with itself; give two or more"
        )
    units_of(args, None if args.start is None else unscaled(args.config, args.start))
    refusal = ValueError(f"another process fits into {str(args.out)!r}: wait for it, or choose another --out")
    with locked(args.out / "fit.lock", refusal):
        fit(args)
        measure(args)
    print(f"wrote {args.out}")


if __name__ == "__main__":
    sys.exit(main())
