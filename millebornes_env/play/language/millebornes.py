"""Mille Bornes in words, as one seat sees it: the hook `play.words`."""

from __future__ import annotations

from copy import copy
from typing import Any, Final

from millebornes_env.engine.numba.compiling import plain
from millebornes_env.engine.rulebook import NEXT_ROUND
from millebornes_env.errors import EditionError, PlayError
from millebornes_env.games.millebornes.actions import (
    CLAIM_COUP_FOURRE,
    EXTEND,
    FINISH,
    PASS,
    card_of,
    is_discard,
    num_actions,
    opponent_of,
    target_team,
)
from millebornes_env.games.millebornes.cards import (
    CARD_NAMES,
    DRIVING_ACE,
    NO_CARD,
    NUM_CARD_TYPES,
    NUM_DISTANCES,
    SPEED_LIMIT,
    is_hazard,
    safety_against,
)
from millebornes_env.games.millebornes.coup_fourre import close_claim
from millebornes_env.games.millebornes.motion import is_cured_by_safety, is_limited, is_moving
from millebornes_env.games.millebornes.rule_checks import validated
from millebornes_env.games.millebornes.rules import Rules, rules_record
from millebornes_env.games.millebornes.state import (
    BY_HAZARD,
    BY_ROLL,
    CLAIM,
    EXTENSION,
    NO_TEAM,
    PHASE_NAMES,
    PLAY,
    ROUND_OVER,
    State,
    new_states,
)
from millebornes_env.play.language.millebornes_rules import rules_text as text_of_rules
from millebornes_env.play.terminal.cards import sentence_case, why_not
from millebornes_env.render.names import Names, is_plural

SYNONYMS: Final = {
    **dict.fromkeys(("km", "kms", "kilometer", "kilometers", "kilometre", "kilometres", "miles"), ""),
    **dict.fromkeys(("on", "onto", "at", "to", "vs", "versus", "towards"), "against"),
    **dict.fromkeys(("discards", "discarding", "throw away", "dump", "discard pile"), "discard"),
    **dict.fromkeys(("flat tyre", "puncture"), "flat tire"),
    **dict.fromkeys(("out of petrol", "out of fuel"), "out of gas"),
    "spare tyre": "spare tire",
    "spare wheel": "spare tire",
    "petrol": "gasoline",
    "repair": "repairs",
    "green light": "roll",
    "red light": "stop",
    "end of speed limit": "end of limit",
    "end speed limit": "end of limit",
    "end limit": "end of limit",
    "puncture proof": "puncture proof",  # longer than "puncture"
    "coups fourres": "coup fourre",
}
"""Words of an answer, and the words of the moves' names that they stand for."""

_DECISIONS: Final = {
    CLAIM_COUP_FOURRE: ("claim", "claim coup fourré", "coup fourré", "yes"),
    PASS: ("pass", "let the hazard stand", "let it stand", "do not claim", "don't claim", "no"),
    EXTEND: ("extend", "extend the trip", "extension", "yes"),
    FINISH: ("finish", "finish the trip", "end the trip", "do not extend", "don't extend", "no"),
}


def rules_of(view: dict[str, Any]) -> Rules:
    """Return the rules of a view.

    Raises:
        PlayError: they are not the rules of a table of this game.
    """
    try:
        return validated(Rules(**view["rules"]))
    except (EditionError, TypeError) as error:
        raise PlayError(f"view['rules'] makes no game: {error}") from None


# Moves -----------------------------------------------------------------------------------------------------


def move_names(rules: Rules) -> list[str]:
    """Return the acting seat's name for each action: "100 km", "Stop against opponent 2", "discard Roll"."""
    names = Names(rules.players, rules.teams)
    return [_move_name(action, names, 0) for action in range(num_actions(rules.teams))]


def _move_name(action: int, names: Names, offset: int) -> str:
    """Return the name of an action of the seat `offset` seats to the left of the reader."""
    card = card_of(action)
    if card == NO_CARD:
        return _DECISIONS[action][0]
    if is_discard(action):
        return f"discard {CARD_NAMES[card]}"
    if not is_hazard(card):
        return CARD_NAMES[card]
    target = target_team(names.teams, offset % names.teams, opponent_of(action))
    return f"{CARD_NAMES[card]} against {names.team(target)}"


def other_names(rules: Rules) -> list[tuple[str, ...]]:
    """Return other names for each action; a hazard names its target unless there is only one."""
    names = Names(rules.players, rules.teams)
    return [_other_names(action, names) for action in range(num_actions(rules.teams))]


def _other_names(action: int, names: Names) -> tuple[str, ...]:
    card = card_of(action)
    if card == NO_CARD:
        return _DECISIONS[action][1:]
    if is_discard(action) or not is_hazard(card):
        return ()
    name, target = CARD_NAMES[card], target_team(names.teams, 0, opponent_of(action))
    targets = [names.team(target).replace(" and ", " ")]
    targets += [names.seat(seat) for seat in range(target, names.players, names.teams)]
    result = [f"{name} against {one}" for one in targets] + [f"{name} {one}" for one in targets]
    if names.teams == len(("own", "other")):
        result += [name, f"{name} against opponent", f"{name} against opponents"]
    return tuple(result)


def line_of_play(rules: Rules, offset: int, action: int) -> str | None:
    """Describe a play to a seat; None if another seat let a hazard stand, which it cannot see."""
    if action == NEXT_ROUND:
        return "-- the next round is dealt --"
    names = Names(rules.players, rules.teams)
    if action == PASS and offset != 0:
        return None
    return f"{names.seat(offset)}: {_move_name(action, names, offset)}"


def reason_against(view: dict[str, Any], action: int) -> str:
    """Return the reason why the action is not legal now, half a sentence."""
    rules = rules_of(view)
    return why_not(_state_of(view, rules), rules, action, Names(rules.players, rules.teams))


# The view ---------------------------------------------------------------------------------------------------


def table(state: State, rules: Rules, seat: int) -> dict[str, Any]:
    """Return the game as the seat sees it, with seats as offsets to its left and cards by name.

    That a seat is asked to parry a hazard would reveal its safety: until it has answered, the others see the
    table before the hazard.
    """
    if int(state.phase) == CLAIM and int(state.seat) != seat:
        state = _before_hazard(state)
    names, phase = Names(rules.players, rules.teams), int(state.phase)
    own = seat % rules.teams
    caller = int(state.extension_team)
    return {
        "place": None if phase == ROUND_OVER else (int(state.seat) - seat) % rules.players,
        "decision": PHASE_NAMES[phase],
        "round": int(state.round_number) + 1,
        "trip": int(state.target),
        "extended_by": None if caller == NO_TEAM else names.team((caller - own) % rules.teams),
        "draw_pile": int(state.draw_pile),
        "hand": _counted(state.hand[seat]),
        "cards_in_hands": {
            names.seat(offset): int(state.hand_count[(seat + offset) % rules.players])
            for offset in range(1, rules.players)
        },
        "teams": [
            _team(state, rules, names.team(offset), (own + offset) % rules.teams)
            for offset in range(rules.teams)
        ],
        "discard_pile": _counted(state.discard_pile),
        "pending": _pending(state, rules, seat, names),
    }


def _before_hazard(state: State) -> State:
    """Return the state before the hazard that waits for an answer was laid."""
    before: State = copy(state)
    before.hand[state.attacker, state.pending_hazard] += 1
    before.hand_count[state.attacker] += 1
    before.seat, before.phase = state.attacker, PLAY
    plain(close_claim)(before)
    return before


def _counted(counts: Any) -> dict[str, int]:
    return {CARD_NAMES[card]: int(counts[card]) for card in range(NUM_CARD_TYPES) if int(counts[card])}


def _team(state: State, rules: Rules, name: str, team: int) -> dict[str, Any]:
    record, tableau = rules_record(rules), state.tableau[team]
    safeties = [card for card in range(DRIVING_ACE, NUM_CARD_TYPES) if int(tableau[card])]
    claimed = [card for card in safeties if int(state.coup_fourre[team, card - DRIVING_ACE])]
    return {
        "name": name,
        "km": int(state.km[team]),
        "moving": bool(plain(is_moving)(state, record, team)),
        "speed_limit": bool(plain(is_limited)(state, team)),
        "battle_pile": _card(int(state.battle[team])),
        "under_it": _card(int(state.battle_below[team])),
        "cancelled": bool(plain(is_cured_by_safety)(state, team)),
        "hazard_began_it": int(state.opening[team]) == BY_HAZARD,
        "distances": _counted([*tableau[:NUM_DISTANCES], *[0] * (NUM_CARD_TYPES - NUM_DISTANCES)]),
        "safeties": [CARD_NAMES[card] for card in safeties],
        "coups_fourres": [CARD_NAMES[card] for card in claimed],
        "points": int(state.score[team]),
    }


def _card(card: int) -> str | None:
    return None if card == NO_CARD else CARD_NAMES[card]


def _pending(state: State, rules: Rules, seat: int, names: Names) -> dict[str, str] | None:
    if int(state.phase) != CLAIM:
        return None
    against = (int(state.pending_team) - seat) % rules.teams
    return {
        "hazard": CARD_NAMES[int(state.pending_hazard)],
        "by": names.seat((int(state.attacker) - seat) % rules.players),
        "against": names.team(against),
    }


def _state_of(view: dict[str, Any], rules: Rules) -> State:
    """Build a state with the fields that `reason_against` needs, for an observer in seat 0."""
    seen = view["table"]
    state: State = new_states(1)[0]
    state.phase = PHASE_NAMES.index(seen["decision"])
    state.target = seen["trip"]
    for name, count in seen["hand"].items():
        state.hand[0, CARD_NAMES.index(name)] = count
    for number, team in enumerate(seen["teams"]):
        state.km[number] = team["km"]
        state.battle[number] = _id(team["battle_pile"])
        state.battle_below[number] = _id(team["under_it"])
        state.speed[number] = SPEED_LIMIT if team["speed_limit"] else NO_CARD
        state.opening[number] = BY_HAZARD if team["hazard_began_it"] else BY_ROLL
        for name, count in team["distances"].items():
            state.tableau[number, CARD_NAMES.index(name)] = count
        for name in team["safeties"]:
            state.tableau[number, CARD_NAMES.index(name)] = 1
    return state


def _id(name: str | None) -> int:
    return NO_CARD if name is None else CARD_NAMES.index(name)


# In words --------------------------------------------------------------------------------------------------


def rules_text(view: dict[str, Any]) -> str:
    """Return the rules of the table in words."""
    return text_of_rules(rules_of(view), view["episode"])


def table_text(view: dict[str, Any]) -> str:
    """Render a seat's view as lines of text."""
    seen, rules = view["table"], rules_of(view)
    names = Names(rules.players, rules.teams)
    lines = [f"Round {seen['round']}. The trip is {seen['trip']} km long{_extended(seen)}."]
    for team in seen["teams"]:
        lines += _team_lines(team, rules, _points_words(view, rules))
    lines.append(f"Cards left to draw: {seen['draw_pile']}.")
    others = ", ".join(f"{name} {count}" for name, count in seen["cards_in_hands"].items())
    lines.append(f"Cards in the other hands: {others}.")
    lines.append(f"Discard pile: {_listed(seen['discard_pile'])}.")
    lines.append(f"Your hand: {_listed(seen['hand'])}.")
    lines.append(_question(seen, rules, names))
    return "\n".join(lines)


def _extended(seen: dict[str, Any]) -> str:
    by = seen["extended_by"]
    return "" if by is None else f" ({by} extended it)"


def _listed(counts: dict[str, int]) -> str:
    """List cards with their numbers: "25 km, Roll (2)"."""
    listed = (name + (f" ({count})" if count > 1 else "") for name, count in counts.items())
    return ", ".join(listed) or "no cards"


def _points_words(view: dict[str, Any], rules: Rules) -> str:
    """Return the words before a team's points; "" where the table does not count them."""
    if view["episode"] != "match" or not rules.count_points:
        return ""
    return "Points" if view["table"]["decision"] == PHASE_NAMES[ROUND_OVER] else "Points before this round"


def _team_lines(team: dict[str, Any], rules: Rules, points_words: str) -> list[str]:
    top = team["battle_pile"]
    battle = "empty" if top is None else top + (" (cancelled by a safety)" if team["cancelled"] else "")
    if team["under_it"] is not None:
        battle += f", on {team['under_it']}"
    if team["hazard_began_it"]:
        battle += " (a hazard began this pile)"
    safeties = (
        name + (" (coup fourré)" if name in team["coups_fourres"] else "") for name in team["safeties"]
    )
    points = f" {points_words}: {team['points']}." if points_words else ""
    return [
        f"{team['name']}: {team['km']} km ({_listed(team['distances'])}).{points}",
        f"  battle pile: {battle}; {'moving' if team['moving'] else 'not moving'}; "
        f"speed limit: {'yes' if team['speed_limit'] else 'no'}; safeties: {', '.join(safeties) or 'none'}",
    ]


def _question(seen: dict[str, Any], rules: Rules, names: Names) -> str:
    if seen["place"] is None:
        return "The round is over."
    who = names.seat(seen["place"])
    if seen["decision"] == PHASE_NAMES[CLAIM]:
        pending = seen["pending"]
        event = sentence_case(f"{pending['by']} laid {pending['hazard']} against {pending['against']}.")
        safety = CARD_NAMES[safety_against(CARD_NAMES.index(pending["hazard"]))]
        return f"{event} You hold {safety}: claim a coup fourré, or pass?"
    if seen["decision"] == PHASE_NAMES[EXTENSION]:
        if seen["place"]:
            return f"{sentence_case(who)} may extend the trip to {rules.extended_target} km."
        return (
            f"You have reached {seen['trip']} km: extend the trip to {rules.extended_target} km, or finish?"
        )
    if seen["place"]:
        return f"{sentence_case(who)} {'are' if is_plural(who) else 'is'} to play."
    has_drawn = sum(seen["hand"].values()) > rules.hand_limit
    return f"It is your turn{'. You have drawn already' if has_drawn else ''}: play a card, or discard one."
