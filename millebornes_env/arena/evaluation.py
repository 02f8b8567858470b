"""How well an agent plays against others, every deal once from each team's place.

Luck decides most games of cards, so every deal (a seed and a number) is played once for each team of the
table with the same cards in the same seats: the agent sits in each team in turn, and the opponent in all the
other teams. These episodes form a block, and all intervals are over the means of the blocks: the luck of the
cards cancels out, and far fewer games tell two agents apart.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from millebornes_env import agents
from millebornes_env._util.command_line import sentence
from millebornes_env.agents import Spec
from millebornes_env.agents.protocol import Agent, ask_in, is_compiled
from millebornes_env.arena.estimates import corrected, luck_reduction
from millebornes_env.arena.intervals import mean_interval
from millebornes_env.arena.match import MatchConfig, agent_seed, play
from millebornes_env.arena.outcome import Outcome
from millebornes_env.arena.results import Row
from millebornes_env.envs.vector import Observations, VectorEnv
from millebornes_env.errors import ArenaError, UnknownAgentError

OnProgress = Callable[[str, float], None]
"""Is told the opponent and how many episodes of its row have been played, with parts of those going on."""

BATCH_SIZE: Final = 4096
"""Episodes that are played at the same time: more would not be faster."""


def evaluate(
    agent: Spec,
    opponents: Sequence[Spec],
    config: MatchConfig | None = None,
    deals: int = 1000,
    *,
    batch_size: int = BATCH_SIZE,
    on_progress: OnProgress | None = None,
) -> list[Row]:
    """Let an agent play against each opponent, with every deal once from each team's place.

    Where the table has more than two teams, the agent plays one of them and the opponent all the others.

    Args:
        agent: as for `agents.load`: a name, `name:option=value`, the path of a run folder, or an agent.
        opponents: the same, of who plays all other teams; a row for each.
        config: table, kind of episode and seed; None for the defaults.
        deals: against each opponent; each gives as many episodes as the table has teams.
        batch_size: episodes that are played at the same time, at most; changes no deal.
        on_progress: called about ten times a second.

    Returns:
        A row for each opponent, in order; the same for the same arguments, but for `seconds`.

    Raises:
        ValueError: unknown agent, edition or table, or an invalid number; the message says which.
    """
    config = config or MatchConfig()
    check(agent, opponents, config, deals)
    return list(play_rows(agent, opponents, config, deals, batch_size=batch_size, on_progress=on_progress))


def check(agent: Spec, opponents: Sequence[Spec], config: MatchConfig, deals: int) -> VectorEnv:
    """Refuse what cannot be played, before anything is: each agent is loaded and makes one decision.

    Returns:
        An environment of the table.

    Raises:
        ValueError: as in `evaluate`.
    """
    if not opponents:
        raise ArenaError("there is no opponent: name at least one")
    if deals < 1:
        raise ArenaError(f"deals is {deals}; it must be 1 or more")
    env = config.env()
    for spec in [agent, *opponents]:
        observations, _ = env.reset(seed=config.seed)
        try:
            _try(agents.load(spec, env), env, observations)
        except UnknownAgentError:
            raise
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(f"the agent {agents.name_of(spec)!r} cannot play: {sentence(error)}") from error
    return env


def _try(agent: Agent, env: VectorEnv, observations: Observations) -> None:
    """Let the agent make one decision, unless that would ask a person, or only kernels can ask it."""
    is_unread = is_compiled(agent) and not env.game.has("agents.decoder")
    if not getattr(agent, "is_person", False) and not is_unread:
        env.step(ask_in(env, agent, observations))


def play_rows(
    agent: Spec,
    opponents: Sequence[Spec],
    config: MatchConfig,
    deals: int,
    *,
    batch_size: int = BATCH_SIZE,
    on_progress: OnProgress | None = None,
) -> Iterator[Row]:
    """The rows of `evaluate` one by one, each as soon as it has been played."""
    for opponent in opponents:
        pair = [
            agents.make(spec, config.table(), agent_seed(config.seed, role))
            for role, spec in enumerate((agent, opponent))
        ]

        def report(episodes: float, name: str = pair[1].name) -> None:
            if on_progress is not None:
                on_progress(name, episodes)

        start = time.perf_counter()
        outcome = play(pair, config, deals, batch_size=batch_size, on_progress=report)
        yield make_row(pair[0].name, pair[1].name, config, outcome, time.perf_counter() - start)


def make_row(agent: str, opponent: str, config: MatchConfig, outcome: Outcome, seconds: float) -> Row:
    """Sum up what was played.

    Args:
        agent: what to call the agent.
        opponent: what to call the opponent.
        config: what was asked for.
        outcome: of the agent in role 0 and the opponent in all others.
        seconds: that it took.

    Returns:
        Means, and 95 % intervals over the deals.
    """
    win_rate, win_rate_low, win_rate_high = outcome.win_rate()
    points, saved = outcome.points_per_episode(), None
    if config.aivat:
        luckless = corrected(outcome).points / len(outcome.lineup)
        points = mean_interval(luckless)
        saved = luck_reduction(outcome).ratio
    assert win_rate_low is not None, "a share has ends even after a single deal"
    assert win_rate_high is not None
    return Row(
        agent=agent,
        opponent=opponent,
        edition=config.edition,
        players=config.players,
        teams=len(outcome.lineup),
        episode=config.episode,
        num_episodes=outcome.rounds.size,
        num_deals=outcome.num_deals,
        win_rate=win_rate,
        win_rate_low=win_rate_low,
        win_rate_high=win_rate_high,
        points=points.mean,
        points_low=points.low,
        points_high=points.high,
        mean_decisions=float(outcome.decisions.mean()),
        seconds=seconds,
        deals_saved=saved,
    )
