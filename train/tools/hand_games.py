"""Training data for hand beliefs: all that a seat sees of the opponent's plays, and the opponent's hand.

Two compiled agents play, and each seat in turn is the viewer. Its inputs are written from the record of the
game by the functions that search uses (`millebornes_env.agents.search.hand_inputs`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from millebornes_env import agents
from millebornes_env.agents.compiled.agent import Int64Array
from millebornes_env.agents.search.hand_inputs import EVENT_SIZE, NOW_SIZE, write_event, write_now
from millebornes_env.agents.search.seen_plays import EVENTS_OF_A_PLAY, write_events
from millebornes_env.arena.dealing import compiled_rules, dealt_batch
from millebornes_env.arena.match import MatchConfig, agent_seed
from millebornes_env.arena.stepping import SteppedGames
from millebornes_env.engine.numba.compiling import for_kernels, kernel
from millebornes_env.games.millebornes.actions import CLAIM_COUP_FOURRE
from millebornes_env.games.millebornes.cards import NUM_CARD_TYPES
from millebornes_env.games.millebornes.rules import RulesRecord
from millebornes_env.games.millebornes.state import CLAIM, Int8Array, StateArray, new_states

_ROUNDS_PER_MATCH: Final = 8  # about
_DECISIONS_PER_DEAL: Final = 120  # about, in two rounds


class Rounds(NamedTuple):
    """S rounds as one seat saw them, with E plays of the opponent and D own decisions in all."""

    events: Int8Array  # [E, EVENT_SIZE] plays, round by round, oldest first
    starts: Int64Array  # [S + 1] offsets of each round's plays, and E
    opponents: npt.NDArray[np.int64]  # [S] index of the opponent in the list of agents
    deals: Int64Array  # [S] index of the deal
    now: Int8Array  # [D, NOW_SIZE] the table at each decision
    truth: Int8Array  # [D, NUM_CARD_TYPES] the opponent's hand
    unseen: Int8Array  # [D, NUM_CARD_TYPES] cards that the seat has not seen
    seen: Int64Array  # [D] number of plays of the round before the decision
    rounds: Int64Array  # [D] index of the round

    @property
    def decisions(self) -> int:
        """Number of decisions."""
        return len(self.seen)


class Buffers(NamedTuple):
    """The arrays that `read_game` writes; M is their capacity."""

    games: StateArray  # [1] scratch
    played: StateArray  # [EVENTS_OF_A_PLAY] scratch
    actions: Int64Array  # [EVENTS_OF_A_PLAY] scratch
    unseen_now: Int64Array  # [NUM_CARD_TYPES] scratch
    events: Int8Array  # [M, EVENT_SIZE]
    event_rounds: Int64Array  # [M]
    now: Int8Array  # [M, NOW_SIZE]
    truth: Int8Array  # [M, NUM_CARD_TYPES]
    unseen: Int8Array  # [M, NUM_CARD_TYPES]
    seen: Int64Array  # [M]
    rounds: Int64Array  # [M]


def new_buffers(steps: int) -> Buffers:
    """Allocate the buffers for a game of at most `steps` decisions."""
    most = 2 * steps + EVENTS_OF_A_PLAY
    return Buffers(
        for_kernels(new_states(1)),
        for_kernels(new_states(EVENTS_OF_A_PLAY)),
        np.zeros(EVENTS_OF_A_PLAY, np.int64),
        np.zeros(NUM_CARD_TYPES, np.int64),
        np.zeros((most, EVENT_SIZE), np.int8),
        np.zeros(most, np.int64),
        np.zeros((most, NOW_SIZE), np.int8),
        np.zeros((most, NUM_CARD_TYPES), np.int8),
        np.zeros((most, NUM_CARD_TYPES), np.int8),
        np.zeros(most, np.int64),
        np.zeros(most, np.int64),
    )


@kernel
def read_game(
    states: StateArray, actions: Int64Array, rules: RulesRecord, viewer: int, buffers: Buffers
) -> tuple[int, int, int]:
    """Read the record of a game as the seat `viewer` saw it.

    Before each decision the game was STATE[T], the actions are int64[T]; the buffers are overwritten.

    Returns:
        The numbers of the opponent's plays, of the seat's decisions, and of rounds.
    """
    events, decisions, rounds, first, has_decided = 0, 0, 1, 0, False
    for index in range(len(actions)):
        state = states[index]
        if index > 0 and int(states[index - 1].round_number) != int(state.round_number):
            rounds += 1
            first, has_decided = events, False
        if int(state.seat) == viewer:
            buffers.games[0] = states[index]
            write_now(buffers.games[0], rules, viewer, buffers.now[decisions], buffers.unseen_now)
            for card in range(NUM_CARD_TYPES):
                buffers.truth[decisions, card] = state.hand[1 - viewer, card]
                buffers.unseen[decisions, card] = buffers.unseen_now[card]
            buffers.seen[decisions] = events - first
            buffers.rounds[decisions] = rounds - 1
            decisions += 1
            has_decided = True
        if not has_decided:
            continue  # a searcher remembers from its first decision on
        is_parried = 0
        if index + 1 < len(actions) and int(states[index + 1].phase) == CLAIM:
            is_parried = 1 if int(actions[index + 1]) == CLAIM_COUP_FOURRE else 0
        before = states[index : index + 1]
        result = write_events(
            before, rules, viewer, int(actions[index]), is_parried, buffers.played, buffers.actions, 0
        )
        for event in range(result):
            buffers.games[0] = buffers.played[event]
            write_event(buffers.games[0], rules, int(buffers.actions[event]), buffers.events[events])
            buffers.event_rounds[events] = rounds - 1
            events += 1
    return events, decisions, rounds


def played_rounds(config: MatchConfig, names: Sequence[str], roles: tuple[int, int], deals: int) -> Rounds:
    """Play deals between two of the agents, with seats exchanged; return what each saw of the other."""
    rules: Any = compiled_rules(config)
    batch = dealt_batch(config, 0, deals)
    table = config.table()
    made = [agents.make(names[one], table, agent_seed(config.seed, role)) for role, one in enumerate(roles)]
    games = SteppedGames(batch, made, config)
    games.begin()
    states_of, actions_of, lengths = [], [], np.zeros(len(batch.states), np.int64)
    while batch.live.any():
        actions_of.append(games.choose().copy())
        states_of.append(np.array(batch.states))
        lengths += batch.live
        games.apply_actions()
    record, chosen = np.stack(states_of, axis=1), np.stack(actions_of, axis=1)
    buffers = new_buffers(int(lengths.max()))
    result = []
    for game, length in enumerate(lengths.tolist()):
        states = for_kernels(record[game, :length].view(np.recarray))
        for viewer in range(2):
            counts = read_game(states, chosen[game, :length], rules, viewer, buffers)
            opponent = roles[int(batch.role_of[game, 1 - viewer])]
            result.append(_copied(buffers, counts, opponent, game % deals))
    return joined(result)


def _copied(buffers: Buffers, counts: tuple[int, int, int], opponent: int, deal: int) -> Rounds:
    """Copy the rounds of one game from the buffers."""
    events, decisions, rounds = counts
    starts = np.searchsorted(buffers.event_rounds[:events], np.arange(rounds + 1))
    parts: tuple[Any, ...] = (buffers.now, buffers.truth, buffers.unseen, buffers.seen, buffers.rounds)
    return Rounds(
        buffers.events[:events].copy(),
        starts.astype(np.int64),
        np.full(rounds, opponent, np.int64),
        np.full(rounds, deal, np.int64),
        *(part[:decisions].copy() for part in parts),
    )


def joined(parts: Sequence[Rounds]) -> Rounds:
    """Concatenate rounds."""
    events = np.cumsum([0, *(len(one.events) for one in parts)])
    rounds = np.cumsum([0, *(len(one.opponents) for one in parts)])
    whole = Rounds(*map(np.concatenate, zip(*parts, strict=True)))
    starts = [one.starts[:-1] + offset for one, offset in zip(parts, events[:-1], strict=True)]
    return whole._replace(
        starts=np.concatenate([*starts, events[-1:]]),
        rounds=np.concatenate([one.rounds + at for one, at in zip(parts, rounds[:-1], strict=True)]),
    )


def collect(config: MatchConfig, names: Sequence[str], decisions: int, seed: int, deals: int = 48) -> Rounds:
    """Play until there are enough decisions, some deals at a time.

    The first agent, whose hand is predicted most, meets all, itself included; of four passes over them, one
    plays whole matches.
    """
    result: list[Rounds] = []
    turn = count = 0
    deals = max(1, min(deals, decisions // (_DECISIONS_PER_DEAL * len(names))))  # all meet
    while count < decisions:
        matches = turn // len(names) % 4 == 3
        episode = "match" if matches else "round"
        table = config.edition, config.players, config.teams
        here = MatchConfig(*table, episode=episode, seed=agent_seed(seed, turn))
        some = max(1, deals // _ROUNDS_PER_MATCH) if matches else deals
        one = played_rounds(here, names, (0, turn % len(names)), some)
        result.append(one._replace(deals=one.deals + turn * deals))
        count += result[-1].decisions
        turn += 1
    return joined(result)
