"""Fit the network that values luck (`--aivat` of the arena) to games of some agents.

    python -m train.luck_value --out runs/luck --edition parker --players 4 --agent arnold --agent strategist
    python -m millebornes_env compare arnold strategist --players 4 --aivat --luck-value runs/luck

The agents play rounds in all lineups of different ones. Some positions, each right after a draw, are kept
with what the round brought the team of the seat that decides, and a network that sees all hands learns to
foretell that. In the first stage it learns what the champion's network thinks. In each later one the luck
that came after the position is taken off them by the network of the stage before: the mean of what is
learned stays the same, its noise shrinks. A network that was fitted to some agents is right for all, as
`millebornes_env.arena.aivat` proves; others only gain less.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import combinations, combinations_with_replacement
from pathlib import Path
from typing import Annotated, Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt
import torch
import tyro
from torch import Tensor, nn

from millebornes_env import agents
from millebornes_env.agents.policy import features
from millebornes_env.agents.policy.agent import PolicyAgent
from millebornes_env.agents.policy.network import network_value
from millebornes_env.agents.protocol import Agent, is_compiled
from millebornes_env.arena.aivat import INPUTS_VERSION, POINTS_OF_VALUE, num_inputs
from millebornes_env.arena.estimates import control_variate_reduction, variance_reduction
from millebornes_env.arena.full_view import list_positions, write_values
from millebornes_env.arena.kernels import Batch, Roles
from millebornes_env.arena.match import (
    MatchConfig,
    agent_seed,
    compiled_rules,
    dealt_batch,
    loops_of,
    play,
    settings_of,
)
from millebornes_env.arena.value_files import DESCRIPTION_FILE, network_for, read_description, save_network
from millebornes_env.arena.value_network import MAX_UNITS, ValueNetwork
from millebornes_env.command_line import carry_out
from millebornes_env.compile import IS_COMPILED, kernel
from millebornes_env.games import find_sheet
from millebornes_env.games import game as find_game
from millebornes_env.millebornes import rulebook
from millebornes_env.millebornes.sections import ObservationSpec
from train.common.options import check_counts, check_shares, parse_options

_AGENTS: Final = ("champion", "arnold", "strategist")
_SEED_OF_TEST: Final = 0x6C75636B  # deals that the network was not fitted to
_FALL: Final = 20.0  # of the learning rate, over a stage
_DEALS_AT_ONCE: Final = 2048
_MANY_DRAWS: Final = 128
_SEED_OF_SCALE: Final = 0x7363616C  # deals that say how much of the luck is taken off

Indices = npt.NDArray[np.int64]
Floats = npt.NDArray[Any]
Teacher = Callable[[Any], Floats]


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
    positions: int = 2_000_000
    """positions that are learned from in each stage"""
    stages: int = 5
    """the first learns from the teacher, later ones from points less luck"""
    teacher: str = "champion"
    """a policy whose value the first stage learns from; "": from points, which takes far longer"""
    start: Path | None = None
    """folder of a network to go on from, with its units, instead of learning from a teacher"""
    decay: float = 0.9
    """lambda of later stages: how little the values of positions soon after are trusted (two teams only)"""
    keep: float = 0.5
    """share of the positions of a round that are kept"""
    hidden: int = 256
    """units of the first layer"""
    second: int = 32
    """units of the second layer"""
    epochs: int = 3
    """passes over the positions of a stage"""
    batch_size: int = 4096
    """positions in one gradient step"""
    learning_rate: float = 2e-3
    """learning rate of Adam at the beginning, in later stages half of it; in each it falls to a twentieth"""
    seed: int = 1
    """seed of the deals and of the network"""
    deals: int = 4000
    """deals of each lineup to measure the gain in"""
    threads: int = 1
    """CPU threads"""

    @property
    def names(self) -> tuple[str, ...]:
        """The agents, by their names."""
        return self.agent or _AGENTS

    @property
    def config(self) -> MatchConfig:
        """What is played."""
        return MatchConfig(
            self.edition, self.players, self.teams, episode="round", seed=self.seed, threads=self.threads
        )


class Positions(NamedTuple):
    """Positions with what is to be learned of them; N of them."""

    ones: npt.NDArray[np.int16]  # [N, W] places that are one, 0 behind them
    lead: npt.NDArray[np.float32]  # [N] of the deciding seat's team at the end of the round, in thousands


# Games -----------------------------------------------------------------------------------------------------


def lineups_of(names: Sequence[str], teams: int) -> list[tuple[str, ...]]:
    """Who plays whom: every choice of different agents, of too few any in which two differ."""
    if len(names) >= teams:
        return list(combinations(names, teams))
    return [one for one in combinations_with_replacement(names, teams) if len(set(one)) > 1 or not names[1:]]


def collect(args: Args, network: ValueNetwork | None, stage: int) -> Positions:
    """Play until there are enough positions.

    Args:
        args: the options.
        network: of the stage before; None: in the first stage.
        stage: every stage has deals of its own.
    """
    lineups = lineups_of(args.names, args.config.rules.teams)
    found: list[Positions] = []
    turn = 0
    while sum(len(one.lead) for one in found) < args.positions:
        seed = agent_seed(args.seed, stage, turn)
        config = replace(args.config, seed=seed, aivat=network is not None)
        found.append(_played(config, lineups[turn % len(lineups)], network, args))
        turn += 1
    return Positions(
        np.concatenate([one.ones for one in found])[: args.positions],
        np.concatenate([one.lead for one in found])[: args.positions],
    )


class Draws:
    """What games were worth after each of their draws, for role 0: N games, at most M draws in one."""

    def __init__(self, games: int) -> None:
        """Make room; more is made when it is needed."""
        self.count = np.zeros(games, np.int64)  # draws so far
        self.values = np.zeros((_MANY_DRAWS, games), np.float32)
        self.luck = np.zeros((_MANY_DRAWS, games), np.float32)  # so far

    def note(self, games: Indices, values: Floats, luck: Floats) -> None:
        """Note a draw of some games, in thousands of points."""
        if int(self.count.max()) == len(self.values):
            self.values = np.concatenate([self.values, np.zeros_like(self.values)])
            self.luck = np.concatenate([self.luck, np.zeros_like(self.luck)])
        self.values[self.count[games], games] = values
        self.luck[self.count[games], games] = luck
        self.count[games] += 1

    def returns(self, lead: Floats, luck: Floats, decay: float) -> Floats:
        """What each draw came to, float32[M, N].

        The lambda-return of "value less the luck so far", whose only noise is that of decisions.

        Args:
            lead: float[N], of role 0 at the end of the round.
            luck: float[N], of the whole round.
            decay: lambda; 1: the value of no later position is believed.
        """
        returns = np.zeros_like(self.values)
        after: Floats = (lead - luck).astype(np.float32)  # what is known of the end, draw by draw backwards
        for draw in range(int(self.count.max()) - 1, -1, -1):
            returns[draw] = self.luck[draw] + after
            own = self.values[draw] - self.luck[draw]
            after = np.where(draw < self.count, (1 - decay) * own + decay * after, after)
        return returns


def _played(
    config: MatchConfig, lineup: Sequence[str], network: ValueNetwork | None, args: Args
) -> Positions:
    """Positions of some rounds, and what is to be learned of them."""
    rules: Any = compiled_rules(config)
    settings, loops = settings_of(config), loops_of(config)
    batch = dealt_batch(config, 0, _DEALS_AT_ONCE, network)
    roles = [agents.make(spec, config.table(), config.seed) for spec in lineup]
    teacher = teacher_of(args, config) if network is None else None
    random, draws = np.random.default_rng(config.seed), Draws(len(batch.states))
    loops.begin_games(batch, rules)
    actions = np.zeros(len(batch.states), np.int64)
    kept: list[tuple[Indices, Indices, Floats, npt.NDArray[np.int16], Floats]] = []
    drew = np.arange(len(batch.states))
    while batch.live.any():
        states = batch.states[drew]
        sign = _sign(batch, drew)
        values = np.zeros(len(drew), np.float32)
        if network is not None:
            write_values(states, rules, network, values)
        draws.note(drew, sign * values, _luck(batch)[drew])
        chosen = np.flatnonzero(random.random(len(drew)) < args.keep)
        ones = np.zeros((len(chosen), widest(rules)), np.int16)
        list_positions(states[chosen], rules, ones)
        taught = np.zeros(len(chosen), np.float32) if teacher is None else teacher(states[chosen])
        kept.append((drew[chosen], draws.count[drew[chosen]] - 1, sign[chosen], ones, taught))
        for role, agent in enumerate(filter(is_compiled, roles)):
            loops.choose_for_role(batch, rules, agent.address, agent.options, role, actions)
        before = batch.states["draw_pile"].copy()
        loops.carry_out_all(batch, rules, settings, actions)
        drew = np.flatnonzero((before != batch.states["draw_pile"]) & batch.live)
    lead = (batch.points[:, 0] - batch.points[:, 1:].mean(axis=1)) / POINTS_OF_VALUE
    returns = draws.returns(lead, _luck(batch), 1.0 if network is None else args.decay)
    games, number, sign, ones, taught = (np.concatenate(parts) for parts in zip(*kept, strict=True))
    learned = taught if teacher is not None else sign * returns[number, games]
    return Positions(ones, learned.astype(np.float32))


def _sign(batch: Batch, games: Indices) -> Floats:
    """1 where role 0 decides, -1 where the other one of two does."""
    role = batch.role_of[games, batch.states["seat"][games] % batch.role_of.shape[1]]
    sign: Floats = np.where(role == 0, 1.0, -1.0).astype(np.float32)
    return sign


def _luck(batch: Batch) -> Floats:
    """The luck of role 0 so far, in thousands of points."""
    if batch.variates.shape[2] == 0:
        return np.zeros(len(batch.states), np.float32)
    luck = batch.variates[:, 0, 0] - batch.variates[:, 1:, 0].mean(axis=1)
    thousands: Floats = (luck / POINTS_OF_VALUE).astype(np.float32)
    return thousands


def widest(rules: Any) -> int:
    """The most places that can be one at a table: of the pile, of each team, of each hand."""
    return 2 + 19 + int(rules.teams) * 16 + int(rules.players) * 9


def teacher_of(args: Args, config: MatchConfig) -> Teacher | None:
    """What the first stage learns from: the value of a policy, in thousands of points; None: from points.

    Raises:
        ValueError: it is no policy that has learned to value positions in points.
    """
    if not args.teacher:
        return None
    agent = agents.make(args.teacher, config.table())
    if not isinstance(agent, PolicyAgent) or agent.value != "points":
        raise ValueError(
            f"--teacher is {args.teacher!r}; it must be a policy that values positions in points"
        )
    rules = compiled_rules(config)

    def values(states: Any) -> Floats:
        found = np.zeros(len(states), np.float32)
        network_values(states, rules, agent.options, found)
        return found

    return values


@kernel
def network_values(states: Any, rules: Any, options: Indices, values: Floats) -> None:
    """Write what a policy's network says that games are worth to the seats that decide in them."""
    for game in range(len(states)):
        state = states[game]
        seat = int(state.seat)
        values[game] = network_value(rulebook, features, ObservationSpec, state, rules, seat, options)


# The network -----------------------------------------------------------------------------------------------


class LuckValue(nn.Module):
    """`ValueNetwork` as PyTorch learns it."""

    def __init__(self, inputs: int, hidden: int, second: int) -> None:
        """Make one of random weights."""
        super().__init__()
        self.rows = nn.EmbeddingBag(inputs, hidden, mode="sum", padding_idx=0)
        self.bias = nn.Parameter(torch.zeros(hidden))
        self.second = nn.Linear(hidden, second)
        self.last = nn.Linear(second, 1)
        with torch.no_grad():
            self.rows.weight.mul_(0.1)
            self.rows.weight[0] = 0.0

    def forward(self, ones: Tensor) -> Tensor:
        """The values, float32[N], of positions, int[N, W]."""
        hidden = torch.relu(self.rows(ones) + self.bias)
        value: Tensor = self.last(torch.relu(self.second(hidden))).squeeze(1)
        return value

    def take(self, network: ValueNetwork) -> None:
        """Go on from these weights."""
        with torch.no_grad():
            for ours, theirs in zip(self._parts(), network, strict=True):
                ours.copy_(torch.from_numpy(theirs))

    def _parts(self) -> tuple[Tensor, ...]:
        """The weights in the order of `ValueNetwork`."""
        second, last = self.second, self.last
        return (self.rows.weight, self.bias, second.weight, second.bias, last.weight[0], last.bias)

    def weights(self) -> ValueNetwork:
        """The weights, copied."""
        return ValueNetwork(
            *(part.detach().numpy().astype(np.float16).astype(np.float32) for part in self._parts())
        )


def learn(model: LuckValue, positions: Positions, args: Args, stage: int) -> float:
    """One stage; the share of the variance that the network explains in the last epoch, before each step."""
    rate = args.learning_rate / (1 if stage == 0 else 2)
    optimizer = torch.optim.Adam(model.parameters(), lr=rate, betas=(0.9, 0.99))
    count, generator = len(positions.lead), np.random.default_rng(agent_seed(args.seed, stage))
    steps = args.epochs * (count // args.batch_size)
    schedule = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 1 / _FALL, total_iters=max(steps, 1))
    squares = 0.0
    for _ in range(args.epochs):
        order, squares = generator.permutation(count), 0.0
        for first in range(0, count - args.batch_size + 1, args.batch_size):
            chosen = np.sort(order[first : first + args.batch_size])
            ones = torch.from_numpy(positions.ones[chosen].astype(np.int32))
            lead = torch.from_numpy(positions.lead[chosen])
            loss = ((model(ones) - lead) ** 2).mean()
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
            schedule.step()
            squares += float(loss.detach()) * len(chosen)
    seen = count // args.batch_size * args.batch_size
    return 1.0 - squares / max(seen, 1) / float(positions.lead.var())


def fit(args: Args) -> ValueNetwork:
    """Fit a network, and write it."""
    torch.set_num_threads(args.threads)
    torch.manual_seed(args.seed)
    rules = args.config.rules
    network = None if args.start is None else unscaled(args.config, args.start)
    hidden, second = (args.hidden, args.second) if network is None else network.second.shape[::-1]
    model = LuckValue(num_inputs(rules.players, rules.teams), hidden, second)
    if network is not None:
        model.take(network)
    for stage in range(args.stages):
        start = time.perf_counter()
        positions = collect(args, network, stage)
        played = time.perf_counter()
        explained = learn(model, positions, args, stage)
        network = model.weights()
        save_network(args.out, network, description(args, stage + 1))  # whoever stops it has that much
        print(
            f"stage {stage + 1} of {args.stages}: {len(positions.lead):,} positions, standard deviation "
            f"{POINTS_OF_VALUE * positions.lead.std():,.0f} points, {100 * explained:.1f} % of the variance "
            f"explained; {played - start:.0f} s of play, {time.perf_counter() - played:.0f} s of learning",
            flush=True,
        )
    assert network is not None, "there is one stage or more"
    scale = scale_of(args, network)
    print(f"of the luck that it finds, {100 * scale:.0f} % is taken off", flush=True)
    network = network._replace(
        last=(scale * network.last).astype(np.float32),
        last_bias=(scale * network.last_bias).astype(np.float32),
    )
    save_network(args.out, network, description(args, args.stages, scale))
    return network


def unscaled(config: MatchConfig, folder: Path) -> ValueNetwork:
    """A network of this script as it was before a part of the luck was left.

    Raises:
        ArenaError: there is none, or it is of another table.
    """
    network = network_for(config.game, config.rules, str(folder))
    scale = np.float32(read_description(folder).get("scale", 1.0))
    return network._replace(last=network.last / scale, last_bias=network.last_bias / scale)


def description(args: Args, stages: int, scale: float = 1.0) -> dict[str, Any]:
    """What `value.json` says of the network after so many stages."""
    rules = args.config.rules
    options = {name: value for name, value in asdict(args).items() if name not in ("out", "start", "threads")}
    return {
        "game": args.config.game.name,
        "players": rules.players,
        "teams": rules.teams,
        "inputs_version": INPUTS_VERSION,
        "editions": [args.edition],
        "fitted_by": "train.luck_value",
        "options": {**options, "agent": list(args.names), "stages": stages},
        "begun_with": None if args.start is None else read_description(args.start).get("options"),
        "scale": scale,
    }


def scale_of(args: Args, network: ValueNetwork) -> float:
    """How much of the luck of duplicate deals is worth taking off: a network that errs finds too much.

    The regression coefficient of the leads on the luck, over deals of their own.
    """
    config = replace(args.config, seed=agent_seed(args.seed, _SEED_OF_SCALE), aivat=True)
    leads, luck = [], []
    for lineup in lineups_of(args.names, config.rules.teams):
        roles = [agents.make(spec, config.table(), config.seed) for spec in lineup]
        outcome = play_valued(roles, config, args.deals, network)
        leads.append(outcome[0] - outcome[0].mean())
        luck.append(outcome[1])
    return float(np.concatenate(leads) @ np.concatenate(luck) / (np.concatenate(luck) ** 2).sum())


def play_valued(
    roles: Sequence[Agent], config: MatchConfig, deals: int, network: ValueNetwork
) -> tuple[Floats, Floats]:
    """The lead of role 0 and its luck in each deal, means over the rotations, in thousands of points."""
    batch = dealt_batch(config, 0, deals, network)
    players = [agent for agent in roles if is_compiled(agent)]
    addresses = np.array([agent.address for agent in players], np.int64 if IS_COMPILED else np.object_)
    who = Roles(addresses, np.array([agent.options for agent in players], np.int64))
    loops_of(config).play_games(batch, compiled_rules(config), settings_of(config), who)
    lead = (batch.points[:, 0] - batch.points[:, 1:].mean(axis=1)) / POINTS_OF_VALUE
    rotations = config.rules.teams
    return lead.reshape(rotations, deals).mean(axis=0), _luck(batch).reshape(rotations, deals).mean(axis=0)


def measure(args: Args) -> None:
    """Print what the network saves, lineup by lineup, in deals that it was not fitted to."""
    seed = agent_seed(args.seed, _SEED_OF_TEST)
    config = replace(args.config, seed=seed, aivat=True, luck_value=str(args.out))
    for lineup in lineups_of(args.names, config.rules.teams):
        outcome = play(list(lineup), config, args.deals)
        streams = variance_reduction(outcome).ratio
        saved = control_variate_reduction(outcome, np.ones(1)).ratio
        print(
            f"{' - '.join(lineup)}: duplicate deals save {streams or 0:.2f} times the rounds, "
            f"and the value of luck {saved or 0:.2f} times the deals on top",
            flush=True,
        )


def main() -> int:
    """The command line; returns the exit status."""
    return carry_out(_command)


def _command() -> None:
    args = parse_options(Args, __doc__)
    find_game(find_sheet(args.edition).game).part("aivat", "train.luck_value")
    check_counts(
        args, "positions", "stages", "hidden", "second", "epochs", "batch_size", "deals", "threads", "players"
    )
    if args.hidden > MAX_UNITS:
        raise ValueError(f"--hidden is {args.hidden}; the arena has room for {MAX_UNITS} units")
    check_shares(args, "keep", "decay")
    if args.keep == 0:
        raise ValueError("--keep is 0; nothing would be learned from")
    if args.config.rules.teams > 2 and (args.decay < 1 or args.teacher):
        raise ValueError("at a table of more than two teams, give --decay 1 --teacher ''")
    if (args.out / DESCRIPTION_FILE).exists():
        raise ValueError(f"{str(args.out)!r} already holds a value of luck: choose another --out")
    table = args.config.table()
    for spec in args.names:
        if not is_compiled(agents.make(spec, table)):
            raise ValueError(f"{spec}: only games of compiled agents can be learned from")
    if args.start is None:
        teacher_of(args, args.config)
    else:
        unscaled(args.config, args.start)
    fit(args)
    measure(args)
    print(f"wrote {args.out}")


if __name__ == "__main__":
    sys.exit(main())
