"""The cycling race as text: the table, the end, and the observation of a seat.

Rows of the board are read from left to right; "rider" marks the square of the rainbow rider.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from millebornes_env.engine.layout import Section
from millebornes_env.engine.numba.compiling import plain
from millebornes_env.games.wielerspel.dice import FACES
from millebornes_env.games.wielerspel.rules import Rules
from millebornes_env.games.wielerspel.squares import CHANCE, EFFORT, EVENT, POLKA_DOT, SUPPLY
from millebornes_env.games.wielerspel.state import (
    AWAY,
    BROKEN_OFF,
    BY_EXHAUSTION,
    BY_INNER_TRACK,
    BY_JERSEYS,
    BY_TURNS,
    ESCAPING,
    EXCHANGE,
    MOVE,
    MUST_PAY,
    MUST_RETIRE,
    NO_CARD,
    NO_SEAT,
    RACE_OVER,
    RIDING,
    State,
)
from millebornes_env.games.wielerspel.winning import combativity_points, has_won, standing
from millebornes_env.render.names import Names
from millebornes_env.render.wielerspel.facts import (
    Facts,
    facts_of_row,
    facts_of_state,
    free_effort_squares,
    name_of_kind,
    names_of_squares,
    square_in_words,
)

_IN_A_ROW: Final = 8
_CELL: Final = 11
_LONGEST_TRACK: Final = 40
_WIDTH: Final = 100
_SECONDS_OF_AN_ARROW: Final = 10
_LEGEND: Final = (
    "n: all but the owner (p0 ...) pay n   -n: the race leader pays   +n: he gains   xn: n polka dots"
)


# The table -------------------------------------------------------------------------------------------------


def draw_race(state: State, rules: Rules) -> str:
    """Draw the race, in lines of at most 100 characters."""
    facts = facts_of_state(state, rules)
    names = [f"player_{seat}" for seat in range(rules.players)]
    lines = [f"turn {int(state.turn) + 1}  |  {_lap(facts, rules)}", _stock(facts), _this_turn(state, rules)]
    lines += [*_board(facts, rules), _LEGEND, *_order(facts, rules, names), *_teams(facts, rules, names)]
    if rules.combativity:
        points = [int(plain(combativity_points)(state, rules, seat)) for seat in range(rules.players)]
        lines.append(
            "points for combativity: " + ", ".join(f"p{seat} {won}" for seat, won in enumerate(points))
        )
    lines.append(question(facts, rules, names))
    return "\n".join(_folded(line) for line in lines if line)


def view(state: State, rules: Rules, seat: int) -> str:
    """Draw the race for a seat; it is the same for all, since only the order of cards is hidden."""
    return draw_race(state, rules)


def _lap(facts: Facts, rules: Rules) -> str:
    """Describe the lap and the finish line."""
    lap = "rainbow lap" if facts.rainbow_lap else "ordinary lap"
    jersey = "a rainbow jersey for the race leader, " if facts.rainbow_lap else ""
    supply = "no supply" if facts.no_supply else f"{rules.lap_supply} energy for all"
    return f"{lap}  |  at the line: {jersey}{supply}"


def _stock(facts: Facts) -> str:
    """Describe the cards that are left."""
    rainbow, green, doubles, triples = facts.stacks
    return (
        f"cards left: {rainbow} rainbow, {green} green, {doubles} of 2 polka dots, {triples} of 3, "
        f"{facts.cards_left} chance"
    )


def _this_turn(state: State, rules: Rules) -> str:
    """Describe the dice and cards of this turn, or return ""."""
    if not int(state.white):
        return ""
    parts = [f"player_{int(state.roller)} rolled {int(state.white)}"]
    if int(state.card) != NO_CARD:
        card = rules.deck[int(state.card)]
        parts.append(f"chance card: {name_of_kind(card.kind)}" + (f" {card.number}" if card.number else ""))
    if int(state.yellow):
        parts.append(f"the yellow die shows {int(state.yellow)}")
    return "this turn: " + "; ".join(parts)


def _board(facts: Facts, rules: Rules) -> list[str]:
    """Draw the outer track, with two lines of text for each row of squares."""
    called = names_of_squares(rules)
    lines: list[str] = []
    for first in range(0, rules.length, _IN_A_ROW):
        row = range(first, min(first + _IN_A_ROW, rules.length))
        lines.append(_edge(row, facts.square))
        lines.append("|" + "|".join(f"{_figures(square, facts, rules):{_CELL}s}" for square in row) + "|")
        lines.append("|" + "|".join(f" {called[square][: _CELL - 1]:{_CELL - 1}s}" for square in row) + "|")
    return [*lines, _edge(row, NO_SEAT)]


def _edge(row: range, rider: int) -> str:
    """Draw the line above a row, with the rainbow rider."""
    return (
        "+"
        + "+".join(" rider ".center(_CELL, "v") if square == rider else "-" * _CELL for square in row)
        + "+"
    )


def _figures(square: int, facts: Facts, rules: Rules) -> str:
    """Return the index of a square, the number printed on it, and the owner of its servant."""
    kind, number = rules.board[square].kind, rules.board[square].number
    sign = {SUPPLY: "+", EVENT: "-", POLKA_DOT: "x"}.get(kind, "")
    owner = facts.owners[square]
    value = f"{sign}{number}" if number else ""
    return f" {square:2d}{value:>4s}{'' if owner == NO_SEAT else f'p{owner}':>4s}"


def _order(facts: Facts, rules: Rules, names: Sequence[str]) -> list[str]:
    """Draw the inner track and the peloton."""
    lines = [f"inner track  {_track(facts, rules)}{_away(facts, rules, names)}"]
    out = f"   (out: {_all(facts.out, names)})" if facts.out else ""
    lines.append(f"peloton      {_all(facts.peloton, names) or 'nobody'}{out}")
    return lines


def _track(facts: Facts, rules: Rules) -> str:
    """Draw the arrows up to the lead, with a bar where the price goes up; "" if they do not fit."""
    if rules.inner_track > _LONGEST_TRACK:
        return ""
    drawn = "["
    for arrow in range(1, rules.inner_track + 1):
        drawn += "=" if arrow < facts.lead else ">" if arrow == facts.lead else "."
        if arrow in (rules.first_minute, rules.second_minute) and arrow < rules.inner_track:
            drawn += "|"
    return f"{drawn}] END  "


def _away(facts: Facts, rules: Rules, names: Sequence[str]) -> str:
    if facts.escaped == NO_SEAT:
        return "nobody is away"
    return f"away: {names[facts.escaped]}, by {arrows(facts.lead)}"


def arrows(lead: int) -> str:
    """Return a lead in arrows and in minutes: "8 arrows (1:20)"."""
    minutes, seconds = divmod(_SECONDS_OF_AN_ARROW * lead, 60)
    return f"{lead} arrow{'' if lead == 1 else 's'} ({minutes}:{seconds:02d})"


def _all(seats: Sequence[int], names: Sequence[str]) -> str:
    return ", ".join(names[seat] for seat in seats)


def _teams(facts: Facts, rules: Rules, names: Sequence[str]) -> list[str]:
    """Draw a line for each seat: energy, servants, jerseys."""
    width = max(map(len, names))
    gap = " " * (width + 2)
    lines = [
        f"{gap}          |         servants          |  jerseys",
        f"{gap}   energy |  beside  on board retired |  rainbow  green  polka dots",
    ]
    for seat, team in enumerate(facts.teams):
        rainbow, green, *dots = team.jerseys
        cards = " ".join(f"{number}x{worth}" for number, worth in zip(dots, (2, 3), strict=True) if number)
        is_to_act = seat == facts.seat and facts.phase not in (RACE_OVER, RIDING)
        lines.append(
            f"{'>' if is_to_act else ' '} {names[seat]:{width}s}   {team.energy:6d} |  {team.beside:6d}  "
            f"{team.on_board:8d} {team.retired:7d} |  {rainbow:7d}  {green:5d}  {team.polka_dots:10d}"
            + (f" ({cards})" if cards else "")
            + ("" if team.place else "  out")
        )
    return lines


# The decision ----------------------------------------------------------------------------------------------


def question(facts: Facts, rules: Rules, names: Sequence[str]) -> str:
    """Describe the decision, the player to make it, and its cost."""
    if facts.phase == RACE_OVER:
        return "The race is over."
    if facts.phase == RIDING:
        return "The race rides on."
    name = names[facts.seat]
    return f"{name if name.startswith('player_') else name.capitalize()}: {_asked(facts, rules, names)}"


def _asked(facts: Facts, rules: Rules, names: Sequence[str]) -> str:
    phase, price, team = facts.phase, facts.price, facts.teams[facts.seat]
    gain, here = f"(+{rules.retirement_energy})", square_in_words(facts.square, rules)
    left, is_short = f"but only {team.energy} left", team.energy < price
    if phase == AWAY:
        if is_short:
            return f"{price} energy for the lead, {left}: retire a servant {gain}, or give up?"
        return f"pay {price} energy for the lead of {arrows(facts.lead)}, or give up?"
    if phase == EXCHANGE:
        greens, polka = rules.greens_for_rainbow, rules.polka_for_rainbow
        offers = [f"{greens} green"] if team.jerseys[1] >= greens else []
        offers += [f"{polka} polka-dot"] if team.polka_dots >= polka else []
        return f"exchange {' or '.join(offers)} jerseys for a rainbow jersey, or keep them?"
    if phase == MUST_PAY:
        return f"{price} energy to pay, {left}: which servant retires {gain}?"
    if phase == MUST_RETIRE:
        return f"forced retirement: which servant retires {gain}?"
    if phase == ESCAPING:
        what = "escape" if facts.escaped == NO_SEAT else f"ride further away than {arrows(facts.lead)}"
        cost = f"for {price} energy" if price else "for nothing"
        return f"{what} {cost}" + (f", {left}: retire a servant {gain}" if is_short else "") + ", or stay?"
    if phase == MOVE:
        return f"which servant moves to {here}, won for {facts.highest_bid} energy?"
    bid = "nobody has bid"
    if facts.highest_bidder != NO_SEAT:
        bid = f"highest bid {facts.highest_bid}, by {names[facts.highest_bidder]}"
    later = len(facts.to_come - {facts.seat})
    after = f"{later} seat{'' if later == 1 else 's'} to come" if later else "the last to bid"
    return f"bid for {here}, or pass? ({bid}; {after})"


# The end ---------------------------------------------------------------------------------------------------


def draw_end(state: State, rules: Rules) -> str:
    """Describe the winner of a race that is over, the way of winning, and the ranking."""
    seats = range(rules.players)
    winners = [seat for seat in seats if plain(has_won)(state, rules, seat)]
    lines = [_result(state, rules, winners)]
    rank = {seat: (seat in winners, int(plain(standing)(state, rules, seat))) for seat in seats}
    facts = facts_of_state(state, rules)
    for seat in sorted(seats, key=lambda one: rank[one], reverse=True):
        number = 1 + sum(rank[other] > rank[seat] for other in seats)
        rainbow, green = facts.teams[seat].jerseys[:2]
        dots = facts.teams[seat].polka_dots
        line = f"{number}. player_{seat}: {rainbow} rainbow, {green} green, {dots} polka dots"
        if rules.combativity:
            line += f", {int(plain(combativity_points)(state, rules, seat))} points for combativity"
        lines.append(line)
    return "\n".join(lines)


def _result(state: State, rules: Rules, winners: Sequence[int]) -> str:
    """Return the sentence on winner and ending."""
    ending = int(state.ending)
    if ending == BROKEN_OFF:
        return "The race was broken off: nobody has won."
    decides = "and points for combativity decide" if rules.combativity else "and jerseys decide"
    reached = f"{rules.target_rainbows} rainbow jersey{'' if rules.target_rainbows == 1 else 's'}"
    how = {
        BY_JERSEYS: f": {reached} are won, {decides}" if rules.combativity else f" with {reached}",
        BY_INNER_TRACK: f": more than {rules.inner_track} arrows away, at the end of the inner track",
        BY_EXHAUSTION: f": all leaders are exhausted, {decides}",
        BY_TURNS: f": {rules.max_turns:,} turns are over, {decides}",
    }[ending]
    who = " and ".join(f"player_{seat}" for seat in winners)
    return f"{who} {'wins' if len(winners) == 1 else 'share the win'}{how}."


# The observation -------------------------------------------------------------------------------------------


def describe(row: npt.NDArray[np.int8], sections: Sequence[Section], rules: Rules) -> str:
    """Describe an observation, int8[D], in several lines."""
    facts = facts_of_row(row, sections, rules)
    names = [Names(rules.players, rules.teams).seat(offset) for offset in range(rules.players)]
    lines = [_lap(facts, rules), _stock(facts), f"rainbow rider: {_here(facts, rules)}"]
    lines.append(_ahead(facts, rules, names))
    for seat, name in enumerate(names):
        held = [_short(square, rules) for square in facts.squares_of(seat)]
        lines.append(f"{name}: {'holds' if seat else 'hold'} {', '.join(held) or 'no square'}")
    free = free_effort_squares(facts, rules)
    lines.append(f"effort squares that nobody holds: {len(free)}")
    lines += [*_order(facts, rules, names), *_teams(facts, rules, names), question(facts, rules, names)]
    return "\n".join(_folded(line) for line in lines)


def _folded(line: str) -> str:
    """Wrap a line, with continuation lines indented."""
    if len(line) <= _WIDTH:
        return line
    return textwrap.fill(line, _WIDTH, subsequent_indent="    ", break_on_hyphens=False)


def _here(facts: Facts, rules: Rules) -> str:
    """Describe the rainbow rider's square, and its kind by a chance card."""
    here = square_in_words(facts.square, rules)
    if rules.board[facts.square].kind != CHANCE or facts.kind in (CHANCE, 0):
        return here
    number = f" {facts.number}" if facts.number else ""
    return f"{here}, for this turn: {name_of_kind(facts.kind)}{number}"


def _ahead(facts: Facts, rules: Rules, names: Sequence[str]) -> str:
    """Describe the squares that the white die can reach."""
    squares = [(facts.square + roll) % rules.length for roll in range(1, FACES + 1)]
    words = []
    for square in squares:
        owner = facts.owners[square]
        is_free = owner == NO_SEAT and rules.board[square].kind == EFFORT
        status = f", {names[owner]}" if owner != NO_SEAT else ", free" if is_free else ""
        words.append(_short(square, rules) + status)
    return "next: " + "; ".join(words)


def _short(square: int, rules: Rules) -> str:
    """Return a short description of a square: "14 climb 4"."""
    number = rules.board[square].number
    return f"{square} {names_of_squares(rules)[square]}" + (f" {number}" if number else "")
