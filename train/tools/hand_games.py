"""Games to learn from what the hidden hand holds: all that a seat sees of the other's plays, and the hand.

Two compiled agents play; each seat in turn is the one that asks. What it is shown is written from the record
of the game by the functions that search uses (`millebornes_env.agents.search.hand_inputs`).
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

_ROUNDS_OF_A_MATCH: Final = 8  # about
_DECISIONS_OF_A_DEAL: Final = 120  # about, in two rounds


class Rounds(NamedTuple):
    """Rounds as one seat saw them: S of them, with E plays of the other one and D own decisions in all."""

    events: Int8Array  # [E, EVENT_SIZE], round by round, the oldest first
    starts: Int64Array  # [S + 1], where the plays of each round start, and where those of the last end
    opponents: npt.NDArray[np.int64]  # [S], whose hand it is: a number in the list of agents
    deals: Int64Array  # [S], number of the deal
    now: Int8Array  # [D, NOW_SIZE]
    truth: Int8Array  # [D, NUM_CARD_TYPES], the other's hand
    unseen: Int8Array  # [D, NUM_CARD_TYPES]
    seen: Int64Array  # [D], plays of the round that came before
    rounds: Int64Array  # [D], of which round it is

    @property
    def decisions(self) -> int:
        """Number of decisions."""
        return len(self.seen)


class Room(NamedTuple):
    """Buffers in which `read_game` writes one game."""

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


def new_room(steps: int) -> Room:
    """Room for a game of so many decisions."""
    most = 2 * steps + EVENTS_OF_A_PLAY
    return Room(
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
    states: StateArray, actions: Int64Array, rules: RulesRecord, viewer: int, room: Room
) -> tuple[int, int, int]:
    """Read the record of a game as a seat saw it.

    Args:
        states: STATE[T], the game before each decision.
        actions: int64[T].
        rules: the table's.
        viewer: the seat.
        room: overwritten.

    Returns:
        How many plays of the other one, decisions of the seat and rounds there are.
    """
    events, decisions, rounds, first, has_decided = 0, 0, 1, 0, False
    for place in range(len(actions)):
        state = states[place]
        if place > 0 and int(states[place - 1].round_number) != int(state.round_number):
            rounds += 1
            first, has_decided = events, False
        if int(state.seat) == viewer:
            room.games[0] = states[place]
            write_now(room.games[0], rules, viewer, room.now[decisions], room.unseen_now)
            for card in range(NUM_CARD_TYPES):
                room.truth[decisions, card] = state.hand[1 - viewer, card]
                room.unseen[decisions, card] = room.unseen_now[card]
            room.seen[decisions] = events - first
            room.rounds[decisions] = rounds - 1
            decisions += 1
            has_decided = True
        if not has_decided:
            continue  # a searcher remembers from its first decision on
        is_parried = 0
        if place + 1 < len(actions) and int(states[place + 1].phase) == CLAIM:
            is_parried = 1 if int(actions[place + 1]) == CLAIM_COUP_FOURRE else 0
        before = states[place : place + 1]
        result = write_events(
            before, rules, viewer, int(actions[place]), is_parried, room.played, room.actions, 0
        )
        for event in range(result):
            room.games[0] = room.played[event]
            write_event(room.games[0], rules, int(room.actions[event]), room.events[events])
            room.event_rounds[events] = rounds - 1
            events += 1
    return events, decisions, rounds


def played_rounds(config: MatchConfig, names: Sequence[str], roles: tuple[int, int], deals: int) -> Rounds:
    """Two agents play deals from both places; what each saw of the other.

    Args:
        config: the table.
        names: the list of agents.
        roles: numbers of two of them.
        deals: how many.
    """
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
    room = new_room(int(lengths.max()))
    result = []
    for game, length in enumerate(lengths.tolist()):
        states = for_kernels(record[game, :length].view(np.recarray))
        for viewer in range(2):
            counts = read_game(states, chosen[game, :length], rules, viewer, room)
            opponent = roles[int(batch.role_of[game, 1 - viewer])]
            result.append(_of_room(room, counts, opponent, game % deals))
    return joined(result)


def _of_room(room: Room, counts: tuple[int, int, int], opponent: int, deal: int) -> Rounds:
    """Return the decisions read from one game."""
    events, decisions, rounds = counts
    starts = np.searchsorted(room.event_rounds[:events], np.arange(rounds + 1))
    return Rounds(
        room.events[:events].copy(),
        starts.astype(np.int64),
        np.full(rounds, opponent, np.int64),
        np.full(rounds, deal, np.int64),
        room.now[:decisions].copy(),
        room.truth[:decisions].copy(),
        room.unseen[:decisions].copy(),
        room.seen[:decisions].copy(),
        room.rounds[:decisions].copy(),
    )


def joined(found: Sequence[Rounds]) -> Rounds:
    """Rounds behind each other."""
    events = np.cumsum([0, *(len(one.events) for one in found)])
    rounds = np.cumsum([0, *(len(one.opponents) for one in found)])
    starts = [one.starts[:-1] + at for one, at in zip(found, events[:-1], strict=True)]
    return Rounds(
        np.concatenate([one.events for one in found]),
        np.concatenate([*starts, events[-1:]]),
        np.concatenate([one.opponents for one in found]),
        np.concatenate([one.deals for one in found]),
        np.concatenate([one.now for one in found]),
        np.concatenate([one.truth for one in found]),
        np.concatenate([one.unseen for one in found]),
        np.concatenate([one.seen for one in found]),
        np.concatenate([one.rounds + at for one, at in zip(found, rounds[:-1], strict=True)]),
    )


def lineups_of(names: Sequence[str]) -> list[tuple[int, int]]:
    """Return the pairings: the first agent, whose hand is predicted most, meets all, itself included."""
    return [(0, other) for other in range(len(names))]


def collect(config: MatchConfig, names: Sequence[str], decisions: int, seed: int, deals: int = 48) -> Rounds:
    """Play until there are so many decisions.

    Every fourth time whole matches are played, else rounds.

    Args:
        config: the table.
        names: the list of agents.
        decisions: how many.
        seed: of the deals.
        deals: that are played at a time, at most.
    """
    result: list[Rounds] = []
    lineups, turn, count = lineups_of(names), 0, 0
    deals = max(1, min(deals, decisions // (_DECISIONS_OF_A_DEAL * len(lineups))))  # all lineups play
    while count < decisions:
        matches = turn // len(lineups) % 4 == 3
        here = MatchConfig(
            config.edition,
            config.players,
            config.teams,
            episode="match" if matches else "round",
            seed=agent_seed(seed, turn),
        )
        some = max(1, deals // _ROUNDS_OF_A_MATCH) if matches else deals
        one = played_rounds(here, names, lineups[turn % len(lineups)], some)
        result.append(one._replace(deals=one.deals + turn * deals))
        count += result[-1].decisions
        turn += 1
    return joined(result)
