"""Fit the network of `belief=network`: the probability of each hand of the opponent, given its plays.

    python -m train.tools.belief --out runs/belief
    python -m train.tools.belief --out runs/quick --decisions 100000 --epochs 2
    python -m train.tools.belief --out runs/more --start runs/belief --seed 2 --learning-rate 1e-3
    python -m research.measurements.beliefs --belief runs/belief

Compiled agents play rounds and matches, the first of them against each. At every decision of either seat, the
network reads all that the seat has seen and maximizes the log-likelihood of the opponent's actual hand,
normalized exactly over all possible hands. The gain over uniform redeals on held-out deals is printed in
bits, by rule sheet and opponent.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from itertools import product
from pathlib import Path
from typing import Annotated, Any, Final, NamedTuple

import numpy as np
import torch
import tyro
from rich.console import Console
from rich.progress import Progress
from rich.table import Table
from torch import Tensor

from millebornes_env import agents
from millebornes_env._util.command_line import run_command
from millebornes_env._util.files import check_writable, locked
from millebornes_env._util.network_files import MANTISSA_BITS, in_half_precision
from millebornes_env._util.versions import versions
from millebornes_env.agents.protocol import is_compiled
from millebornes_env.agents.search.hand_files import FILES, read_description, read_network
from millebornes_env.agents.search.hand_inputs import INPUTS_VERSION
from millebornes_env.agents.search.hand_network import (
    MAX_COMPONENTS,
    MAX_HAND,
    MAX_UNITS,
    OUTPUTS,
    HandNetwork,
)
from millebornes_env.arena.match import MatchConfig, agent_seed
from millebornes_env.games.registry import DEFAULT_GAME
from millebornes_env.games.registry import edition as find_edition
from millebornes_env.games.registry import game as find_game
from train.common.options import check_amounts, check_counts, check_shares, parse_options
from train.common.run_folder import LossError
from train.tools.hand_games import Rounds, collect, joined
from train.tools.hand_model import HandModel, log_weights

Bits = dict[str, dict[str, tuple[float, float]]]
"""Mean bits and standard errors, by rule sheet and opponent."""

_SEED_OF_TEST: Final = 0x68656C64  # added to the seed: deals that the network is not fitted to
_LEARNING_RATE_DECAY: Final = 30.0

_AGENTS: Final = (
    *("champion", "champion:mode=sample", "strategist", "strategist", "arnold", "arnold"),
    *("holder", "hoarder", "attacker", "racer", "greedy", "random", "random"),
)


@dataclass(frozen=True)
class Args:
    """The options of the command line."""

    out: Path
    """folder that the network is written to; it must not hold one yet"""
    agent: Annotated[tuple[str, ...], tyro.conf.UseAppendAction] = ()
    """a compiled agent; the first plays against each, including itself; repeat it for several, an agent may
    occur more than once (default: `champion` and nine others)"""
    edition: Annotated[tuple[str, ...], tyro.conf.UseAppendAction] = ()
    """rule sheet that is played; repeat it for one network of several, which share the decisions (default:
    `parker`)"""
    start: Path | None = None
    """folder of a network to start from, perhaps of another sheet; its units are kept"""
    decisions: int = 4_000_000
    """number of decisions to learn from"""
    test_decisions: int = 200_000
    """number of decisions of other deals for the measurement at the end"""
    epochs: int = 4
    """passes over the decisions"""
    units: int = 64
    """units of the layer that encodes a play"""
    memory: int = 96
    """units of the recurrent layer"""
    hidden: int = 128
    """units of the hidden layer after it"""
    components: int = 4
    """components of the mixture"""
    batch_size: int = 128
    """minibatch size in rounds; a round has some 30 decisions"""
    learning_rate: float = 3e-3
    """initial learning rate of Adam; it decays to 1/30"""
    cut: float = 0.1
    """share of the rounds whose first plays are dropped, as for a seat that joins late"""
    bits: int = MANTISSA_BITS
    """mantissa bits of the written weights, 1 to 10; with 6 they compress to three quarters of the size"""
    seed: int = 1
    """seed of the deals and of the network"""
    threads: int = 1
    """CPU threads of the learning"""

    @property
    def configs(self) -> dict[str, MatchConfig]:
        """The tables of the games by rule sheet."""
        return {name: MatchConfig(name, 2, threads=1) for name in self.edition or ("parker",)}

    @property
    def names(self) -> tuple[str, ...]:
        """Specs of the agents."""
        return self.agent or _AGENTS


class Minibatch(NamedTuple):
    """Rounds as inputs of the network; see `HandModel.forward`."""

    events: Tensor
    now: Tensor
    seen: Tensor
    rounds: Tensor
    unseen: Tensor
    truth: Tensor


def minibatches(
    found: Rounds, size: int, random: np.random.Generator | None, cut: float = 0.0
) -> Iterator[tuple[Minibatch, Any]]:
    """Yield all rounds in minibatches of `size`, with the indices of their decisions.

    Random numbers shuffle them, and drop the first plays in a share `cut` of the rounds; without them, whole
    rounds come in order of their length.
    """
    lengths = np.diff(found.starts)
    noise = random.integers(0, 4, len(lengths)) if random is not None else 0
    order = np.argsort(lengths + noise, kind="stable")  # rounds of about the same length
    parts = [order[first : first + size] for first in range(0, len(order), size)]
    if random is not None:
        random.shuffle(parts)
    ends = np.searchsorted(found.rounds, np.arange(len(lengths) + 1))
    for part in parts:
        yield _minibatch(found, part, ends, random, cut)


def _minibatch(
    found: Rounds, part: Any, ends: Any, random: np.random.Generator | None, cut: float
) -> tuple[Minibatch, Any]:
    first = np.zeros(len(part), np.int64)
    lengths = np.diff(found.starts)[part]
    if random is not None and cut > 0:
        first = np.where(random.random(len(part)) < cut, random.integers(0, lengths + 1), 0)
    events = np.zeros((max(int(lengths.max(initial=0)), 1), len(part), found.events.shape[1]), np.float32)
    numbers, columns = [], []
    for column, one in enumerate(part.tolist()):
        start, stop = found.starts[one] + first[column], found.starts[one + 1]
        events[: stop - start, column] = found.events[start:stop]
        own = np.arange(ends[one], ends[one + 1])
        own = own[found.seen[own] >= first[column]]
        numbers.append(own)
        columns.append(np.full(len(own), column))
    chosen, rounds = np.concatenate(numbers), np.concatenate(columns)
    seen = found.seen[chosen] - first[rounds]
    truth, unseen = found.truth[chosen].astype(np.int64), found.unseen[chosen].astype(np.int64)
    now = found.now[chosen].astype(np.float32)
    arrays = events, now, seen, rounds, unseen, truth
    return Minibatch(*(torch.from_numpy(array) for array in arrays)), chosen


def bits_of(model: HandModel, some: Minibatch) -> Tensor:
    """Return the log-likelihood gain of the true hands over uniform redeals, in bits, float32[D]."""
    outputs = model(some.events, some.now, some.seen, some.rounds)
    return log_weights(outputs, some.unseen, some.truth) / math.log(2)


def learn(model: HandModel, found: Rounds, args: Args, progress: Progress) -> list[float]:
    """Fit the network; return the mean bits of each epoch, measured before each step."""
    optimizer = torch.optim.Adam(model.parameters(), lr=args.learning_rate, betas=(0.9, 0.99))
    random = np.random.default_rng(agent_seed(args.seed, 1))
    steps = args.epochs * math.ceil(len(found.opponents) / args.batch_size)
    lowest = 1 / _LEARNING_RATE_DECAY
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: lowest + (1 - lowest) * 0.5 * (1 + math.cos(math.pi * min(step / steps, 1)))
    )
    means, task = [], progress.add_task("learning", total=steps)
    for epoch in range(args.epochs):
        total, count = 0.0, 0
        for some, chosen in minibatches(found, args.batch_size, random, args.cut):
            progress.update(task, advance=1)
            if not len(chosen):  # all its rounds were cut after their last decision
                continue
            bits: Any = bits_of(model, some)
            optimizer.zero_grad(set_to_none=True)
            (-bits.mean()).backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            schedule.step()
            total += float(bits.detach().sum())
            if not math.isfinite(total):
                raise LossError(
                    f"loss became NaN or infinite in epoch {epoch + 1}: a lower --learning-rate may help"
                )
            count += len(chosen)
            progress.update(task, description=f"epoch {epoch + 1}: {total / count:.2f} bits")
        means.append(total / max(count, 1))
        progress.console.print(f"epoch {epoch + 1} of {args.epochs}: {means[-1]:.3f} bits")
    return means


def measured(model: HandModel, found: Rounds, args: Args) -> dict[str, tuple[float, float]]:
    """Return mean bits by opponent, with standard errors over deals."""
    bits = np.zeros(found.decisions)
    with torch.no_grad():
        for some, chosen in minibatches(found, args.batch_size, None):
            bits[chosen] = bits_of(model, some).numpy()
    names = np.array(args.names)[found.opponents[found.rounds]]
    deals = found.deals[found.rounds]
    lines = {}
    for name in dict.fromkeys(args.names):
        rows = np.flatnonzero(names == name)
        if len(rows) == 0:
            continue
        mean = float(bits[rows].mean())
        sums = np.bincount(deals[rows], bits[rows] - mean)
        count = len(np.unique(deals[rows]))
        error = np.sqrt((sums**2).sum() * count / (count - 1)) / len(rows) if count > 1 else math.nan
        lines[name] = (mean, float(error))
    return lines


def fit(args: Args) -> Bits:
    """Fit a network, measure it and write it; return mean bits and standard errors.

    Raises:
        OSError: a file could not be written.
        LossError: the loss became NaN or infinite; nothing was written.
    """
    torch.set_num_threads(args.threads)
    torch.manual_seed(args.seed)
    console = Console()
    start = time.process_time()
    with console.status("playing"):
        result = joined([part for _, part in played(args, args.decisions, args.seed)])
        held_out = played(args, args.test_decisions, agent_seed(args.seed, _SEED_OF_TEST))
    spent = time.process_time() - start
    console.print(
        f"{result.decisions:,} decisions of {len(result.opponents):,} rounds, played in {spent:.0f} s of "
        "processor time"
    )
    model = new_model(args)
    with Progress(console=console) as progress:
        epochs = learn(model, result, args, progress)
    arrays = in_half_precision(model.weights()._asdict(), args.bits)
    model.load(HandNetwork(*(array.astype(np.float32) for array in arrays.values())))
    bits = {name: measured(model, part, args) for name, part in held_out}
    spent = time.process_time() - start
    FILES.save(args.out, arrays, description(args, model, epochs, bits, spent))
    return bits


def played(args: Args, decisions: int, seed: int) -> list[tuple[str, Rounds]]:
    """Play at least so many decisions at the tables in turn; return their rule sheets and rounds."""
    share = math.ceil(decisions / len(args.configs))
    return [(name, collect(config, args.names, share, seed)) for name, config in args.configs.items()]


def new_model(args: Args) -> HandModel:
    """Create the network, or load the one to start from; `AgentError` if that is missing or damaged."""
    if args.start is None:
        return HandModel(args.units, args.memory, args.hidden, args.components)
    read_description(args.start)  # checks that it is shown the same inputs
    network = read_network(args.start)
    model = HandModel(*sizes_of(network))
    model.load(network)
    return model


def sizes_of(network: HandNetwork) -> tuple[int, int, int, int]:
    """Return the units of the three layers and the number of components, as `HandModel` takes them."""
    components = network.out_bias.size // OUTPUTS
    return network.event_bias.size, network.kept.shape[1], network.hidden_bias.size, components


def description(
    args: Args, model: HandModel, epochs: list[float], bits: Bits, spent: float
) -> dict[str, Any]:
    """Return the contents of `belief.json`."""
    options = {name: value for name, value in asdict(args).items() if name not in ("out", "start", "threads")}
    sizes = dict(zip(("units", "memory", "hidden", "components"), sizes_of(model.weights()), strict=True))
    before = None if args.start is None else read_description(args.start)
    config = next(iter(args.configs.values()))
    rules = config.rules
    return {
        "game": config.game.name,
        "players": rules.players,
        "teams": rules.teams,
        "editions": list(args.configs),
        "inputs_version": INPUTS_VERSION,
        "fitted_by": "train.tools.belief",
        "options": {**options, "agent": list(args.names), "edition": list(args.configs), **sizes},
        "begun_with": before and {name: before.get(name) for name in ("options", "begun_with")},
        "bits_of_epochs": [round(mean, 4) for mean in epochs],
        "bits": {
            sheet: {
                name: {"mean": round(one, 4), "standard_error": round(two, 4) if math.isfinite(two) else None}
                for name, (one, two) in lines.items()
            }
            for sheet, lines in bits.items()
        },
        "processor_seconds": round(spent),
        "versions": versions(),
    }


def check(args: Args) -> None:
    """Check the options; raise a `ValueError` that names the option."""
    sizes = ("units", "memory", "hidden")
    check_counts(args, "decisions", "test_decisions", "epochs", *sizes, "components", "batch_size", "threads")
    check_shares(args, "cut")
    for name, most in (*((size, MAX_UNITS) for size in sizes), ("components", MAX_COMPONENTS)):
        if getattr(args, name) > most:
            raise ValueError(f"--{name} is {getattr(args, name)}; search supports at most {most}")
    if not 1 <= args.bits <= MANTISSA_BITS:
        raise ValueError(f"--bits is {args.bits}; it must be from 1 to {MANTISSA_BITS}")
    check_amounts(args, "learning_rate")
    for name, config in args.configs.items():
        if find_game(find_edition(name).game) is not find_game(DEFAULT_GAME):
            raise ValueError(f"--edition is {name!r}; only Mille Bornes has beliefs")
        if config.rules.hand_limit >= MAX_HAND:
            raise ValueError(
                f"--edition is {name!r}, with {config.rules.hand_limit} cards in a hand; search supports at "
                f"most {MAX_HAND - 1}"
            )
    if (args.out / FILES.description_file).exists():
        raise ValueError(f"{str(args.out)!r} already holds a belief: choose another --out")
    for spec, config in product(args.names, args.configs.values()):
        if not is_compiled(agents.make(spec, config.table())):
            raise ValueError(f"{spec}: only games of compiled agents can be learned from")
    new_model(args)
    check_writable(args.out / FILES.description_file)


def main() -> int:
    """Run the command line; return the exit status."""
    return run_command(_command)


def _command() -> None:
    args = parse_options(Args, __doc__)
    check(args)
    refusal = ValueError(f"another process fits into {str(args.out)!r}: wait for it, or choose another --out")
    try:
        with locked(args.out / "fit.lock", refusal):
            bits = fit(args)
    except LossError as error:
        raise ValueError(str(error)) from None
    table = Table(title="bits per hand over uniform redeals, on held-out deals", title_justify="left")
    for heading in ("edition", "opponent", "bits", "± 1 SE"):
        table.add_column(heading, justify="left" if heading in ("edition", "opponent") else "right")
    for sheet, lines in bits.items():
        for name, (mean, deviation) in lines.items():
            table.add_row(sheet, name, f"{mean:.2f}", f"{deviation:.2f}")
    Console().print(table)
    print(f"wrote {args.out}")


if __name__ == "__main__":
    sys.exit(main())
