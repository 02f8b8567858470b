"""Checks of the decision in a position of the race, with messages that name the line.

`audit.first_violation` finds impossible records, but does not check that the seat can have this decision now.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from millebornes_env.engine.numba.compiling import plain
from millebornes_env.games.wielerspel import auction, energy, escape, jerseys, legality, peloton
from millebornes_env.games.wielerspel.actions import NUM_ACTIONS
from millebornes_env.games.wielerspel.rules import Rules
from millebornes_env.games.wielerspel.squares import CHANCE, EFFORT, ESCAPE, FORCED_RETIREMENT
from millebornes_env.games.wielerspel.state import (
    AWAY,
    BID,
    ESCAPING,
    EXCHANGE,
    JERSEYS_AFTER_THE_SQUARE,
    JERSEYS_AT_THE_LINE,
    JERSEYS_BEFORE_THE_DIE,
    MOVE,
    MUST_PAY,
    MUST_RETIRE,
    NO_CARD,
    NO_SEAT,
    NOT_ENDED,
    PHASE_NAMES,
    RACE_OVER,
    SQUARE,
)
from millebornes_env.notation.lines import Line
from millebornes_env.notation.wielerspel.words import LINES_OF_A_TURN, STAGE_WORDS, race_order, usual_stage

_STAGES_OF_EXCHANGE = (JERSEYS_BEFORE_THE_DIE, JERSEYS_AT_THE_LINE, JERSEYS_AFTER_THE_SQUARE)


def check_decision(lines: Mapping[str, Line], rules: Rules, record: Any, state: Any) -> None:
    """Raise an error that names the line if the seat cannot have this decision.

    `record` is the rules as an element of an array.
    """
    line, phase = lines["to act"], int(state.phase)
    if phase == RACE_OVER:
        _check_end(lines, state)
        return
    if "ending" in lines:
        raise lines["ending"].error("the race goes on: write 'to act: race over', or leave this line out")
    seat = int(state.seat)
    if seat not in race_order(state):
        raise line.error(f"seat {seat} has left the race: it is neither in the peloton nor away")
    if int(state.turn) >= rules.max_turns:
        raise lines["turn"].error(f"a race has {rules.max_turns} turns")
    _check_stage(line, rules, state)
    _check_dice(lines, rules, state)
    problem = _PROBLEMS[phase](rules, record, state)
    if problem:
        raise line.error(problem)
    if phase in (BID, MUST_PAY):
        _check_queue(lines, state)
    _check_bid(lines, rules, state)
    mask = np.zeros(NUM_ACTIONS, np.int8)
    plain(legality.write_mask)(state, record, mask)
    if not mask.any():
        raise line.error(f"seat {seat} has no legal action there, so it has no decision")


def _check_end(lines: Mapping[str, Line], state: Any) -> None:
    if int(state.ending) == NOT_ENDED:
        raise lines["to act"].error(
            "the ending is missing: write 'ending: jerseys, won by seat 0', or 'exhaustion'"
        )
    if int(state.winner) != NO_SEAT and int(state.out[int(state.winner)]):
        raise lines["ending"].error(f"seat {int(state.winner)} has left the race")


def _check_stage(line: Line, rules: Rules, state: Any) -> None:
    stage, phase = int(state.stage), int(state.phase)
    fits = stage in _STAGES_OF_EXCHANGE if phase == EXCHANGE else stage == usual_stage(state, rules)
    if not fits:
        raise line.error(
            f"{PHASE_NAMES[phase]!r} is not a decision of the step {STAGE_WORDS[stage]!r} of a turn: leave "
            "it out"
        )


def _check_dice(lines: Mapping[str, Line], rules: Rules, state: Any) -> None:
    """Check that a turn has a white die from the second step on, and a card on a chance square."""
    stage, line = int(state.stage), lines["to act"]
    if stage <= JERSEYS_BEFORE_THE_DIE:
        for name in LINES_OF_A_TURN:
            if name in lines:
                raise lines[name].error("the turn begins, so this has not happened yet")
        return
    if not int(state.white):
        raise line.error("the white die has been rolled in this turn: write 'rolled: 4 by seat 0'")
    is_chance = rules.board[int(state.square)].kind == CHANCE and stage > SQUARE
    if is_chance and int(state.card) == NO_CARD:
        raise line.error("the rider is on a chance square: write the card that was drawn, 'card: escape'")
    if not is_chance and int(state.card) != NO_CARD:
        raise lines["card"].error(f"square {int(state.square)} is not a chance square, so no card was drawn")


def _check_queue(lines: Mapping[str, Line], state: Any) -> None:
    """Check that the seat to decide is the next in the queue."""
    following, end = int(state.queue_next), int(state.queue_end)
    seat = int(state.seat)
    if following >= end or int(state.queue[following]) != seat:
        raise lines.get("queue", lines["to act"]).error(
            f"seat {seat} is to act, but is not the next in the queue"
        )
    for waiting in range(following, end):
        if int(state.out[int(state.queue[waiting])]):
            raise lines["queue"].error(f"seat {int(state.queue[waiting])} has left the race")


def _check_bid(lines: Mapping[str, Line], rules: Rules, state: Any) -> None:
    """Check that the highest bidder has had its turn and can pay."""
    bidder = int(state.highest_bidder)
    if bidder == NO_SEAT:
        return
    if int(state.phase) not in (BID, MOVE):
        raise lines["bid"].error("there is no auction in this decision")
    if int(state.phase) == MOVE:  # the bid has been paid
        return
    if bidder not in state.queue[: int(state.queue_next)]:
        raise lines["bid"].error(f"seat {bidder} has not had its turn to bid")
    if int(state.energy[bidder]) < int(state.highest_bid):
        raise lines["bid"].error(f"seat {bidder} has {int(state.energy[bidder])} energy")
    if int(state.retired[bidder]) == rules.servants:
        raise lines["bid"].error(f"seat {bidder} has no servant left to put on the square")


# The decisions ---------------------------------------------------------------------------------------------


def _no_price(rules: Rules, record: Any, state: Any) -> str:
    if int(state.escaped) != int(state.seat):
        return f"seat {int(state.seat)} is not away: it does not pay for a lead"
    return ""


def _no_exchange(rules: Rules, record: Any, state: Any) -> str:
    seat = int(state.seat)
    if not plain(jerseys.can_exchange)(state, record, seat):
        return f"seat {seat} has too few jerseys for a rainbow jersey, or none is left"
    leader = plain(peloton.race_leader)(state) if not int(state.white) else int(state.roller)
    return "" if seat == leader else f"only the race leader has this decision, seat {leader}"


def _no_payment(rules: Rules, record: Any, state: Any) -> str:
    seat = int(state.seat)
    if not int(state.due):
        return f"nothing is due on square {int(state.square)}"
    if plain(energy.has_energy)(state, seat, int(state.due)):
        return (
            f"seat {seat} has {int(state.energy[seat])} energy and can pay the {int(state.due)} that are due"
        )
    return "" if _has_servants(record, state) else f"seat {seat} has no servant left"


def _no_retirement(rules: Rules, record: Any, state: Any) -> str:
    if int(state.kind) != FORCED_RETIREMENT:
        return "only the chance card forced_retirement takes a servant out of the race"
    if int(state.seat) != int(state.roller):
        return f"it takes one of the race leader's, seat {int(state.roller)}"
    return "" if _has_servants(record, state) else f"seat {int(state.seat)} has no servant left"


def _has_servants(record: Any, state: Any) -> bool:
    return bool(plain(energy.servants_left)(state, record, int(state.seat)) > 0)


def _no_escape(rules: Rules, record: Any, state: Any) -> str:
    seat = int(state.seat)
    if int(state.kind) != ESCAPE and int(state.holder) != seat:
        return f"square {int(state.square)} is not an escape square, and seat {seat} does not hold it"
    leader = plain(peloton.race_leader)(state)
    if seat != leader:
        return f"only the race leader may escape, seat {leader}"
    if not plain(escape.can_escape)(state, seat) and not _has_servants(record, state):
        return f"seat {seat} has neither the {int(state.number)} energy nor a servant, so it has no decision"
    return ""


def _no_auction(rules: Rules, record: Any, state: Any) -> str:
    square = int(state.square)
    if rules.board[square].kind != EFFORT or int(state.kind) != EFFORT:
        return f"square {square} is not an effort square: it is not sold"
    if int(state.owner[square]) != NO_SEAT or int(state.holder) != NO_SEAT:
        return f"square {square} was held by a servant when the rider reached it: it is not sold"
    return ""


def _no_bid(rules: Rules, record: Any, state: Any) -> str:
    if not plain(auction.is_asked_to_bid)(state, record, int(state.seat)):
        return f"seat {int(state.seat)} can only pass, so it has no decision"
    return _no_auction(rules, record, state)


def _no_move(rules: Rules, record: Any, state: Any) -> str:
    seat = int(state.seat)
    if int(state.highest_bidder) != seat:
        return f"seat {seat} has not won the auction: write 'bid: 3 by seat {seat}'"
    if not plain(auction.must_choose_servant)(state, record, seat):
        return f"seat {seat} has a servant beside the board, or only one: it has no choice"
    return _no_auction(rules, record, state)


_PROBLEMS = {
    AWAY: _no_price,
    EXCHANGE: _no_exchange,
    MUST_PAY: _no_payment,
    MUST_RETIRE: _no_retirement,
    ESCAPING: _no_escape,
    BID: _no_bid,
    MOVE: _no_move,
}
"""For each phase, a function that returns why the seat cannot have the decision, or ""."""
