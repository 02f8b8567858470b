"""Play rounds by agents of any kind and keep every observation and action."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from millebornes_env.agents.protocol import Agent, ask, forget
from millebornes_env.engine.kernels import SKIP
from millebornes_env.envs.vector import VectorEnv
from millebornes_env.errors import AgentFaultError
from millebornes_env.games.millebornes.state import StateArray

Int8Array = npt.NDArray[np.int8]
Int32Array = npt.NDArray[np.int32]

HIDDEN: Final = "other_hands"
"""The section of the full state that holds the cards in the other hands."""


class Decisions(NamedTuple):
    """M decisions; those of one agent at one step have int64 games and actions, and int32 seats."""

    games: npt.NDArray[Any]  # int32[M] index of the round, 0 to G - 1
    seats: npt.NDArray[Any]  # int8[M] acting seat
    observations: Int8Array  # [M, D]
    masks: Int8Array  # [M, A]
    actions: npt.NDArray[Any]  # int8[M]
    hidden: Int8Array  # [M, (S - 1) * 19] cards in the other hands, to the left; [M, 0] if not recorded


class Played(NamedTuple):
    """G rounds of S seats and T teams."""

    first_round: int
    begun: StateArray  # STATE[G] after the deal
    sheets: Int32Array  # [G] number of the rule sheet; 0 if there is only one
    lengths: Int32Array  # [G] decisions in each round
    agents: Int8Array  # [G, T] number of the agent that plays each team
    points: npt.NDArray[np.int16]  # [G, T] of the round
    rewards: npt.NDArray[np.float32]  # [G, S] of the round
    winners: Int8Array  # [G] the sole winning team, or -1
    totals: Int32Array  # [G, T] result in notation
    decisions: Decisions  # of all rounds, sorted by round and time


def play_rounds(agents: Sequence[Agent], env: VectorEnv, seed: int, first_round: int, hidden: bool) -> Played:
    """Play one round in each game of the environment.

    Round n has the cards of deal n // T, and agent i plays team (i + n) % T: every deal is played from each
    team's place. With fewer agents than teams, the last one plays the remaining teams.

    Args:
        agents: 1 to T agents that have not seen other games.
        env: G games whose episodes are rounds, with autoreset disabled.
        seed: seed of the deals.
        first_round: number of the first round.
        hidden: keep the cards in the other hands, too.

    Raises:
        AgentFaultError: an agent raised, or chose an illegal action; the message names the round.
    """
    table = _Table(agents, env, first_round, hidden)
    begun, sheets = _deal(env, seed, first_round), env.games.game_rules.sheet.copy()
    live = np.ones(env.num_envs, np.bool_)
    points = np.zeros((env.num_envs, env.teams), np.int16)
    rewards = np.zeros((env.num_envs, env.players), np.float32)
    winners = np.zeros(env.num_envs, np.int8)
    rows: list[Decisions] = []
    while live.any():
        actions = np.full(env.num_envs, SKIP, np.int64)
        for number in range(len(agents)):
            chosen = table.ask(number, live)
            if chosen is not None:
                actions[chosen.games] = chosen.actions
                rows.append(chosen)
        _, paid, ended, _, infos = env.step(actions)
        points[ended], winners[ended] = infos["final_score"][ended], infos["final_winner"][ended]
        rewards[ended] = paid[ended]
        live &= ~ended
    decisions = _by_round(rows)
    return Played(
        first_round,
        begun,
        sheets,
        lengths=np.bincount(decisions.games, minlength=env.num_envs).astype(np.int32),
        agents=table.agent_of_team,
        points=points,
        rewards=rewards,
        winners=winners,
        totals=env.games.states["score"][:, : env.teams].astype(np.int32),
        decisions=decisions,
    )


def _by_round(rows: Sequence[Decisions]) -> Decisions:
    """Return the decisions of all steps, sorted by round and time; their games have type int32."""
    games = np.concatenate([step.games for step in rows])
    order = np.argsort(games, kind="stable")  # steps come one after the other
    places = np.empty_like(order)
    places[order] = np.arange(len(order))
    ends = np.cumsum([len(step.games) for step in rows])
    columns = []
    for steps in zip(*(step[1:] for step in rows), strict=True):
        column = np.empty((len(order), *steps[0].shape[1:]), np.int8)
        for end, values in zip(ends, steps, strict=True):  # a copy less than to concatenate and to sort
            column[places[end - len(values) : end]] = values
        columns.append(column)
    return Decisions(games[order].astype(np.int32), *columns)


def _deal(env: VectorEnv, seed: int, first_round: int) -> StateArray:
    """Deal the rounds; a deal is a function of the seed and of its number."""
    rounds = first_round + np.arange(env.num_envs)
    first_deal = first_round // env.teams
    env.reset(seed=seed)
    env.games.seed(seed, first_deal)
    env.games.states[:] = env.games.states[rounds // env.teams - first_deal]
    env.reset()
    return env.get_states()


class _Table:
    """The agents at their teams.

    Attributes:
        agent_of_team: int8[G, T], number of the agent of each team.
    """

    def __init__(self, agents: Sequence[Agent], env: VectorEnv, first_round: int, hidden: bool) -> None:
        """Assign the agents to teams and reset their memories."""
        rounds = first_round + np.arange(env.num_envs)[:, np.newaxis]
        roles = (np.arange(env.teams)[np.newaxis] - rounds) % env.teams
        self.agent_of_team: Int8Array = np.minimum(roles, len(agents) - 1).astype(np.int8)
        self._agents, self._env, self._first_round = agents, env, first_round
        section = next(one for one in env.state_sections if one.name == HIDDEN)
        self._shown = slice(section.start, section.stop if hidden else section.start)
        self._is_hidden_kept = hidden
        for agent in agents:
            forget(agent)

    def ask(self, number: int, live: npt.NDArray[np.bool_]) -> Decisions | None:
        """Return the decisions of an agent in all games where it is to act; None without such games."""
        env, agent = self._env, self._agents[number]
        seats = env.agent_selection
        own = self.agent_of_team[np.arange(env.num_envs), seats % env.teams] == number
        games = np.flatnonzero(live & own)
        if not len(games):
            return None
        seen = env.games.buffers
        observations, masks = seen.observation[games], seen.action_mask[games]
        slot_ids = games * env.players + seats[games]
        try:
            actions = ask(agent, observations, masks, slot_ids, lambda: env.games.states[games])
        except Exception as error:
            text = " ".join(str(error).split())
            last = self._first_round + env.num_envs - 1
            raise AgentFaultError(
                f"{agent.name} raised {type(error).__name__} in rounds {self._first_round} to {last}: {text}"
            ) from error
        self._check(agent, games, masks, actions)
        hidden = env.games.full_states()[games, self._shown] if self._is_hidden_kept else observations[:, :0]
        return Decisions(games, seats[games], observations, masks, actions, hidden)

    def _check(self, agent: Agent, games: npt.NDArray[np.int64], masks: Int8Array, actions: Any) -> None:
        """Raise an AgentFaultError for an illegal action."""
        known = (actions >= 0) & (actions < masks.shape[1])
        illegal = ~known | (masks[np.arange(len(games)), np.where(known, actions, 0)] == 0)
        if illegal.any():
            row = int(illegal.argmax())
            game, action = int(games[row]), int(actions[row])
            seat = int(self._env.agent_selection[game])
            name = self._env.games.rulebook.action_name(action, self._env.rules, seat)
            legal = ", ".join(self._env.legal_actions(game).values())
            raise AgentFaultError(
                f"{agent.name} chose {name} (action {action}), which is illegal, in round "
                f"{self._first_round + game}, seat {seat}; legal were: {legal}"
            )
