"""How well an agent plays against others, every deal once from each team's place.

Luck decides most games of cards, so every deal (a seed and a number) is played once for each team of the
table with the same cards in the same seats: the agent sits in each team in turn, and the opponent in all the
other teams. These episodes form a block, and all intervals are over the means of the blocks: the luck of the
cards cancels out, and far fewer games tell two agents apart.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from millebornes_env import VectorEnv, agents, vector_env
from millebornes_env.agents import RunFolderError, Spec, UnknownAgentError
from millebornes_env.agents.human.agent import HumanAgent
from millebornes_env.agents.protocol import Agent, ask_in
from millebornes_env.arena.kernels import Batch
from millebornes_env.arena.match import MatchConfig, agent_seed, by_deal, play_roles
from millebornes_env.arena.results import Row, mean_interval, share_interval
from millebornes_env.command_line import sentence
from millebornes_env.envs.vector import Observations

OnProgress = Callable[[str, float], None]
"""Is told the opponent and how many episodes of its row have been played, with parts of those going on."""


@dataclass(frozen=True)
class EvaluationConfig:
    """How to evaluate.

    Attributes:
        edition: name of the rule sheet.
        players: seats at the table.
        teams: teams at the table; None for the sheet's usual way to play with so many.
        episode: "match" or "round".
        num_games: episodes against each opponent; rounded up to whole blocks of one per team.
        seed: of the deals, and of the agents' own random numbers; 0 to 2**64 - 1.
        batch_size: episodes that are played at the same time, at most; changes no deal.
    """

    edition: str = "parker"
    players: int = 2
    teams: int | None = None
    episode: str = "match"
    num_games: int = 2000
    seed: int = 1
    batch_size: int = 4096


@dataclass(frozen=True)
class Blocks:
    """How the episodes ended; B deals, T teams. Row t of an array is of the agent sitting in team t.

    Attributes:
        win_shares: float64[T, B], 1 for a win of the agent's team, 1 / k if k teams share it, else 0.
        points: float64[T, B], points of the agent's team less the mean of the other teams'.
        decisions: int64[T, B], actions of all seats.
    """

    win_shares: npt.NDArray[np.float64]
    points: npt.NDArray[np.float64]
    decisions: npt.NDArray[np.int64]


def evaluate(
    agent_spec: Spec,
    opponent_specs: Sequence[Spec],
    config: EvaluationConfig | None = None,
    on_progress: OnProgress | None = None,
) -> list[Row]:
    """Let an agent play against each opponent, with every deal once from each team's place.

    Where the table has more than two teams, the agent plays one of them and the opponent all the others.

    Args:
        agent_spec: as for `agents.load`: a name, `name:option=value`, the path of a run folder, or an agent.
        opponent_specs: the same, of who plays all other teams; a row for each.
        config: table, episodes and seed; None for the defaults.
        on_progress: called about ten times a second.

    Returns:
        A row for each opponent, in order; the same for the same arguments, but for `seconds`.

    Raises:
        ValueError: unknown agent, run folder, edition or table, or an invalid number; the message says which.
    """
    config = config or EvaluationConfig()
    check(agent_spec, opponent_specs, config)
    return list(play_rows(agent_spec, opponent_specs, config, on_progress))


def check(agent_spec: Spec, opponent_specs: Sequence[Spec], config: EvaluationConfig) -> VectorEnv:
    """Refuse what cannot be played, before anything is: each agent is loaded and makes one decision.

    Returns:
        An environment of the table.

    Raises:
        ValueError: as in `evaluate`.
    """
    if not opponent_specs:
        raise ValueError("there is no opponent: name at least one")
    if config.num_games < 1:
        raise ValueError(f"num_games is {config.num_games}; it must be 1 or more")
    env = table_env(config, 1)
    if config.batch_size < env.teams:
        raise ValueError(f"batch_size is {config.batch_size}; it must be {env.teams} (the teams) or more")
    for spec in [agent_spec, *opponent_specs]:
        observations, _ = env.reset(seed=config.seed)
        try:
            _try(agents.load(spec, env), env, observations)
        except (UnknownAgentError, RunFolderError):
            raise
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(f"the agent {agents.name_of(spec)!r} cannot play: {sentence(error)}") from error
    return env


def _try(agent: Agent, env: VectorEnv, observations: Observations) -> None:
    """Let the agent make one decision, unless that would ask a person."""
    if not isinstance(agent, HumanAgent):
        env.step(ask_in(env, agent, observations))


def play_rows(
    agent_spec: Spec,
    opponent_specs: Sequence[Spec],
    config: EvaluationConfig,
    on_progress: OnProgress | None = None,
) -> Iterator[Row]:
    """The rows of `evaluate` one by one, each as soon as it has been played."""
    for opponent_spec in opponent_specs:
        table = table_env(config, 1)
        agent = agents.load(agent_spec, table, agent_seed(config.seed, 0))
        opponent = agents.load(opponent_spec, table, agent_seed(config.seed, 1))
        start = time.perf_counter()
        blocks = play(agent, opponent, config, on_progress)
        yield make_row(agent.name, opponent.name, config, blocks, time.perf_counter() - start)


def play(
    agent: Agent, opponent: Agent, config: EvaluationConfig, on_progress: OnProgress | None = None
) -> Blocks:
    """Play all deals, as many at the same time as a batch holds.

    Args:
        agent: plays one team, in turn each of them.
        opponent: plays the other teams.
        config: table, episodes and seed.
        on_progress: as in `evaluate`.

    Returns:
        How they ended.
    """
    table = MatchConfig(config.edition, config.players, config.teams, config.episode, config.seed)
    teams = table.rules.teams
    num_deals = -(-config.num_games // teams)
    deals_in_batch = max(config.batch_size // teams, 1)
    roles = [agent] + [opponent] * (teams - 1)
    batches: list[Batch] = []
    for first in range(0, num_deals, deals_in_batch):

        def report(episodes: float, before: int = first * teams) -> None:
            if on_progress is not None:
                on_progress(opponent.name, before + episodes)

        batches += play_roles(roles, table, first, min(deals_in_batch, num_deals - first), report)
        report(min(deals_in_batch, num_deals - first) * float(teams))
    own_points = by_deal(batches, "points", teams).astype(np.float64)
    return Blocks(
        win_shares=by_deal(batches, "shares", teams)[..., 0].T,
        points=(own_points[..., 0] - own_points[..., 1:].mean(axis=2)).T,
        decisions=by_deal(batches, "steps", teams).T,
    )


def make_row(agent: str, opponent: str, config: EvaluationConfig, blocks: Blocks, seconds: float) -> Row:
    """Sum up what was played.

    Args:
        agent: what to call the agent.
        opponent: what to call the opponent.
        config: what was asked for.
        blocks: from `play`.
        seconds: that it took.

    Returns:
        Means, and 95 % intervals over the blocks (the deals).
    """
    win_rate, win_rate_low, win_rate_high = share_interval(blocks.win_shares.mean(axis=0))
    points = mean_interval(blocks.points.mean(axis=0))
    teams, num_deals = blocks.points.shape
    return Row(
        agent=agent,
        opponent=opponent,
        edition=config.edition,
        players=config.players,
        teams=teams,
        episode=config.episode,
        num_episodes=teams * num_deals,
        num_deals=num_deals,
        win_rate=win_rate,
        win_rate_low=win_rate_low,
        win_rate_high=win_rate_high,
        points=points.mean,
        points_low=points.low,
        points_high=points.high,
        mean_decisions=float(blocks.decisions.mean()),
        seconds=seconds,
    )


def table_env(config: EvaluationConfig, num_envs: int) -> VectorEnv:
    """An environment of the table that stops after an episode."""
    return vector_env(
        num_envs,
        config.edition,
        players=config.players,
        teams=config.teams,
        episode=config.episode,
        autoreset_mode="disabled",
    )
