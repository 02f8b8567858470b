"""The rules of Mille Bornes in words, generated from the rules of a table.

Each function writes a chapter, from the same fields as the chapter of the rulebook that it names. A test
changes every field and expects another text wherever the game changes.
"""

from __future__ import annotations

from millebornes_env.games.millebornes.cards import CARD_NAMES, NUM_CARD_TYPES
from millebornes_env.games.millebornes.rules import END_AFTER_TURN, EVERY_PLACED_TEAM, Rules
from millebornes_env.render.names import Names


def rules_text(rules: Rules, episode: str) -> str:
    """Return the rules of a table.

    Args:
        rules: rules of the table.
        episode: "round" or "match".
    """
    chapters = {
        "THE GAME": [*_table(rules), *_trip(rules)],
        "THE CARDS": _cards(rules),
        "A TURN": _turn(rules),
        "MOVING": _moving(rules),
        "HAZARDS": _hazards(rules),
        "REMEDIES": _remedies(rules),
        "SAFETIES": _safeties(rules),
        "COUP FOURRÉ": _coup_fourre(rules),
        "EXTENSION": _extension(rules),
        "THE EMPTY DRAW PILE": _empty_pile(rules),
        "WHO WINS": _winning(rules, episode),
    }
    return "\n\n".join("\n".join([head, *lines]) for head, lines in chapters.items() if lines)


def _table(rules: Rules) -> list[str]:
    """Describe the seats and teams (`motion.team_of`)."""
    names = Names(rules.players, rules.teams)
    order = ", ".join(names.seat(seat) for seat in range(rules.players))
    if rules.players == rules.teams:
        teams = "each plays alone (and is called a team here)"
    else:
        teams = (
            f"in {rules.teams} teams of {rules.players // rules.teams}. Partners have hands of their own, "
            "and share all that lies before them"
        )
    others = ", ".join(names.team(team) for team in range(1, rules.teams))
    return [
        f"Mille Bornes, a race by cards. {rules.players} players; {teams}. You play against: {others}.",
        f"Turns go around in this order: {order}, and so on.",
    ]


def _trip(rules: Rules) -> list[str]:
    """Describe the length of the trip (`distance`)."""
    exact = (
        "exactly: a card that would take you beyond it cannot be laid"
        if rules.exact_finish
        else "or more: the last card may take you beyond it"
    )
    return [
        f"A team that has laid distance cards of {rules.target} km in all has completed the trip, {exact}."
    ]


def _cards(rules: Rules) -> list[str]:
    """Describe the deck (`deal.shuffle_deck`)."""
    counts = [f"{CARD_NAMES[card]} {rules.deck[card]}" for card in range(NUM_CARD_TYPES) if rules.deck[card]]
    return [
        f"The deck has {sum(rules.deck)} cards, so many of each: {', '.join(counts)}.",
        f"Each player is dealt {rules.hand_limit}; the others are the draw pile. Nobody sees other hands.",
    ]


def _turn(rules: Rules) -> list[str]:
    """Describe a turn (`turn.step`, `legality.can_discard`)."""
    when = (
        "if no card of the hand can be laid: discard one" if rules.discard_only_if_stuck else "or discard one"
    )
    safeties = "" if rules.discard_safeties else " Safeties cannot be discarded."
    return [
        f"You draw a card at the beginning of your turn. Then lay a card, {when}.{safeties}",
        "What was discarded does not come back in this round. All see it.",
    ]


def _moving(rules: Rules) -> list[str]:
    """Describe when a team moves (`motion.is_moving`), and its distances (`distance.is_within_limits`)."""
    lines = ["Distance cards are laid on the own distance pile, only while your team is moving."]
    if rules.start_needs_roll:
        lines.append("A team with an empty battle pile is not moving: a Roll has to be laid on it first.")
        if rules.any_safety_starts:
            lines.append(
                "With a safety of any kind before it, a team with an empty battle pile moves all the same."
            )
    else:
        lines.append("A team with an empty battle pile is moving.")
    lines.append("A team with a Roll on top of its battle pile is moving.")
    lines.append("A team with a hazard on top of its battle pile is not moving.")
    if rules.roll_after_remedy:
        lines.append("On Repairs, Gasoline or Spare tire a Roll has to be laid before the team moves again.")
        if rules.opening_remedy_starts:
            lines.append(
                "But where a hazard began the battle pile, the remedy on it is enough: the team moves."
            )
    else:
        lines.append("With Repairs, Gasoline or Spare tire on top of its battle pile a team is moving.")
    lines.append(
        "A team with Right of way needs no Roll: it moves unless a hazard is on top that none of its "
        "safeties cancels."
    )
    lines.append("Under a Speed limit a team may lay 25 km and 50 km only.")
    if rules.max_200:
        lines.append(f"A team may lay {rules.max_200} cards of 200 km in a round at most.")
    else:
        lines.append("No card of 200 km may be laid.")
    return lines


def _hazards(rules: Rules) -> list[str]:
    """Describe which hazards may be played against whom (`hazards.can_hazard_land`)."""
    lines = [
        "Hazards are laid against another team: Accident, Out of gas, Flat tire and Stop on its battle pile, "
        "Speed limit on its speed pile.",
        "Accident, Out of gas, Flat tire and Stop can be laid against a team that is moving.",
    ]
    if rules.hazard_opens_pile:
        lines.append("They can be laid on an empty battle pile, too.")
    if rules.attack_needs_roll:
        without = "a card other than a Roll" if rules.hazard_opens_pile else "no Roll"
        lines.append(
            f"But not against a team that moves with {without} on top of its battle pile and no Right of way."
        )
    lines.append("Speed limit can be laid against any team that is under none, moving or not.")
    if rules.one_hazard_at_a_time:
        lines.append(
            "A team under a Speed limit can be given no other hazard, and a team that a hazard stops no "
            "Speed limit."
        )
    lines.append("No hazard can be laid against a team that has laid the safety against it.")
    return lines


def _remedies(rules: Rules) -> list[str]:
    """Describe the use of remedies (`remedies.can_play_remedy`)."""
    targets = ["on a Stop"]
    if rules.start_needs_roll:
        targets.append("on an empty battle pile")
    if rules.roll_after_remedy:
        targets.append("on Repairs, Gasoline or Spare tire")
    if rules.roll_after_safety:
        targets.append("on a hazard that a safety has cancelled")
    return [
        "Remedies are laid on the own piles: Repairs on an Accident, Gasoline on Out of gas, Spare tire on "
        "a Flat tire, End of limit on a Speed limit; nowhere else, and not on a hazard that a safety has "
        "cancelled.",
        f"A Roll can be laid {' or '.join(targets)}; nowhere else.",
    ]


def _safeties(rules: Rules) -> list[str]:
    """Describe the effect of safeties (`safeties.play_safety`, `turn.lay_card`)."""
    lines = [
        "Driving ace is the safety against Accident, Extra tank against Out of gas, Puncture proof against "
        "Flat tire, Right of way against both Stop and Speed limit.",
        "A safety can be laid in any turn of your own. Then draw a card, and play again.",
        "Right of way takes a Stop or a Speed limit that shows away; what lay under it shows again.",
    ]
    if rules.roll_after_safety:
        lines.append(
            "The other safeties cancel their hazard where it lies; a Roll has to be laid on it before the "
            "team moves, unless it has Right of way."
        )
    else:
        lines.append("The other safeties take their hazard away, too; what lay under it shows again.")
    return lines


def _coup_fourre(rules: Rules) -> list[str]:
    """Describe the answer to a hazard (`coup_fourre`)."""
    asked = "you hold" if rules.players == rules.teams else "one of you holds"
    return [
        f"When a hazard is laid against your team and {asked} the safety against it, the holder decides "
        "immediately: claim, or pass.",
        "A player who claims lays the safety; the hazard goes to the discard pile as though it had never "
        "been laid. The player draws two cards and plays; then play continues to the left, and the players "
        "in between lose a turn.",
        "A player who passes lets the hazard stand, and may lay the safety in a later turn. The others do "
        "not see this decision.",
    ]


def _extension(rules: Rules) -> list[str]:
    """Describe the extension (`ending.can_extend`)."""
    if not rules.extended_target:
        return []
    reached = f"reaches {rules.target} km" + ("" if rules.exact_finish else " or more")
    return [
        f"The player whose card {reached} first chooses: extend, and the trip is {rules.extended_target} km "
        "long for all teams; or finish, which ends the round. A trip is extended once.",
    ]


def _empty_pile(rules: Rules) -> list[str]:
    """Describe play with an empty draw pile (`ending.next_seat`, `turn.play_again`)."""
    ends = rules.when_pile_is_empty == END_AFTER_TURN
    plays_on_if_extended = bool(ends and rules.extended_target and rules.play_out_after_extension)
    if ends:
        lines = ["The round ends with the turn in which the last card was drawn."]
    else:
        lines = ["When no card is left to draw, all play on with the cards in their hands."]
    if plays_on_if_extended:
        lines.append("But in a trip that was extended, all play on with the cards in their hands.")
    if not ends or plays_on_if_extended:
        lines.append("A player without cards is skipped; the round ends when no player has cards left.")
    if rules.end_when_stuck:
        lines.append(
            "It ends immediately when the draw pile is empty and no player holds a card that can be laid."
        )
    if not rules.replay_after_safety_when_empty:
        lines.append("A safety laid with the draw pile empty gives no further play.")
    if not rules.replay_after_claim_when_empty:
        after = "the responder" if rules.turn_follows_claim_when_empty else "the player who laid the hazard"
        where = "in a trip that was extended, " if plays_on_if_extended else ""
        goes_on = f": {where}play continues to the left of {after}"
        is_over = ends and not plays_on_if_extended
        lines.append(f"A coup fourré with the draw pile empty gives no play{'' if is_over else goes_on}.")
    return lines


def _winning(rules: Rules, episode: str) -> list[str]:
    """Describe how to win (`winning`)."""
    lines = ["A round ends when a team has completed the trip, or when the cards run out."]
    if not rules.count_points:
        tie = ""
        if rules.safeties_break_tie:
            tie = " Between equal distances, more safeties decide."
        return [
            *lines,
            "The team that has completed the trip wins; if none has, the one with the most km. Equal teams "
            f"share the win.{tie}",
        ]
    lines += ["Points of a round:", *_points(rules)]
    if episode == "match":
        lines.append(
            f"Rounds are played until a team has {rules.goal} points or more: the one with the most wins "
            "the match. If two have equally many, another round is played."
        )
    else:
        lines.append("One round is played: the team with the most points wins.")
    return lines


def _points(rules: Rules) -> list[str]:
    """List the lines of the score sheet (`scoring`) that are worth points."""
    shutout = (
        "for each other team that has laid no distance card, to every team that has"
        if rules.shutout_for == EVERY_PLACED_TEAM
        else "for completing the trip when no other team has laid a distance card"
    )
    longer = rules.extended_target > 0
    worth = [
        (rules.points_per_safety, "for each safety"),
        (rules.points_all_safeties, "more for all four safeties"),
        (rules.points_per_coup_fourre, "more for each coup fourré"),
        (rules.points_trip_completed, "for completing the trip"),
        (rules.points_delayed_action, "more for completing it with the draw pile empty"),
        (rules.points_safe_trip, "more for completing it without a card of 200 km"),
        (rules.points_extension * longer, "to the team that extended the trip, if it completes it"),
        (rules.points_extension_failed * longer, "to each other team, if it does not"),
        (rules.points_shutout, shutout),
    ]
    lines = ["- 1 for each km"] + [f"- {points} {what}" for points, what in worth if points]
    if longer and rules.failed_extension_forfeits_bonuses:
        lines.append("- A team that extended the trip and does not complete it scores its km only.")
    return lines
