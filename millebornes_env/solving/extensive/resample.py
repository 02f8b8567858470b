"""Resampling of a game: everything hidden from a seat is drawn again, back to the deal.

`VectorEnv.determinize` redeals the hidden cards of a record. Here a whole history is drawn, with the cards
that the other seats have drawn on the way: so their information states change too, as a search needs it.
"""

from __future__ import annotations

from collections import Counter
from typing import Final, NamedTuple

import numpy as np

from millebornes_env.errors import IllegalActionError, OptionError, StateError
from millebornes_env.solving.extensive.spots import OVER, Deal, Position
from millebornes_env.solving.extensive.tree import Node

MOST_TRIES: Final = 100_000
NOTHING: Final = -1


class KnownStep(NamedTuple):
    """A step of the game as known to the seat.

    Attributes:
        seat: the seat that acts or draws; -1: the starting seat is drawn by lot.
        action: the action; None: the seat drew cards.
        cards: what left its hand by the action, or how many it drew, as a list of those that it drew.
    """

    seat: int
    action: int | None
    cards: list[int]


def resample(node: Node, generator: np.random.Generator, most_tries: int = MOST_TRIES) -> Node:
    """Sample a node that the seat to act cannot distinguish from this one.

    Its information state is the same, in both keys; what the others hold and have drawn is drawn again. All
    histories that agree with what the seat has seen are as probable as chance makes them; what it might infer
    from how others *chose* to play is not considered: who could have claimed a coup fourré in the new history
    and did not has let the hazard stand.

    Args:
        node: where a seat is to act.
        generator: of random numbers.
        most_tries: maximum number of histories to draw; the few that the rules do not allow are
            discarded.

    Returns:
        A node of the same tree.

    Raises:
        OptionError: no seat is to act there.
        StateError: no sampled history agrees with the seat's information.
    """
    seat = node.player
    if seat < 0:
        raise OptionError("nobody is to act there: resample where a seat is to act")
    steps = _steps(node)
    for _ in range(most_tries):
        result = _replay(node, seat, _redraw(node, seat, steps, generator))
        if result is not None and result.public == node.public and result.seen[seat] == node.seen[seat]:
            return result
    raise StateError(
        f"none of {most_tries:,} histories agrees with what player_{seat} knows: give more tries"
    )


def _steps(node: Node) -> list[KnownStep]:
    """Return the steps that led to a node, without those that only other seats know."""
    path, steps = node.path(), []
    index = 1
    while index < len(path):
        before, action = path[index - 1], path[index].action
        if isinstance(before.spot, Deal):
            end = index + before.spot.draw.size
            steps.append(KnownStep(before.spot.draw.seat, None, [one.action for one in path[index:end]]))
            index = end
            continue
        keys, player = node.tree.keys, before.player
        if player < 0 or player == node.player or not keys.is_event_private(action):
            steps.append(KnownStep(player, action, _played_cards(path, index) if player >= 0 else []))
        index += 1
    return steps


def _played_cards(path: list[Node], index: int) -> list[int]:
    """Return the public cards that the seat acting before `index` played from its hand."""
    seat, end = path[index - 1].player, index
    while isinstance(path[end].spot, Deal):
        end += 1
    drawn = [one.action for one in path[index + 1 : end + 1] if _drawer(one.parent) == seat]
    cards = _cards(path[index - 1], seat)
    cards.update(drawn)
    cards.subtract(_cards(path[end], seat))
    return sorted(cards.elements())


def _drawer(node: Node | None) -> int | None:
    """Return the seat that a card is drawn for at the node."""
    return node.spot.draw.seat if node is not None and isinstance(node.spot, Deal) else None


def _cards(node: Node, seat: int) -> Counter[int]:
    """Return the cards that a seat holds."""
    return Counter(node.tree.hand(node.spot, seat))


def _redraw(node: Node, seat: int, steps: list[KnownStep], generator: np.random.Generator) -> list[KnownStep]:
    """Return the same steps with the cards of the other seats drawn again.

    The hands at the end are a redeal of all cards that the seat cannot see. Then the game runs backwards:
    what a seat played it held before, and of what it held, each card is as likely to be the one drawn last.
    """
    hands = _redeal(node, seat, generator)
    redrawn = []
    for step in reversed(steps):
        new = step
        if step.seat in hands:
            hand = hands[step.seat]
            if step.action is not None:
                hand += step.cards
            else:
                drawn = [hand.pop(generator.integers(len(hand))) for _ in step.cards]
                new = step._replace(cards=sorted(drawn))
        redrawn.append(new)
    return redrawn[::-1]


def _redeal(node: Node, seat: int, generator: np.random.Generator) -> dict[int, list[int]]:
    """Deal hands to the other seats; all deals of the unseen cards are equally probable."""
    tree, spot = node.tree, node.spot
    assert isinstance(spot, Position)
    unseen = list(tree.undrawn(tree.record(spot)).elements())
    held = {other: tree.hand(spot, other) for other in range(tree.players) if other != seat}
    for cards in held.values():
        unseen += cards
    generator.shuffle(unseen)
    hands = {}
    for other, cards in held.items():
        hands[other], unseen = unseen[: len(cards)], unseen[len(cards) :]
    return hands


def _replay(node: Node, seat: int, steps: list[KnownStep]) -> Node | None:
    """Return the node that the steps lead to; None if the rules do not allow them."""
    result, index = node.tree.root, 0
    try:
        while index < len(steps):
            step, spot = steps[index], result.spot
            if isinstance(spot, Deal) and (step.seat, step.action) == (spot.draw.seat, None):
                for card in step.cards:
                    result = result.child(card)
                index += 1
            elif step.seat == result.player and step.action in result.actions:
                result = result.child(step.action)
                index += 1
            else:
                result = result.child(_unseen_action(result, seat))
        while result.player not in {seat, OVER}:
            result = result.child(_unseen_action(result, seat))
    except IllegalActionError:
        return None
    return result


def _unseen_action(node: Node, seat: int) -> int:
    """Return the private action of another seat at the node, or NOTHING if it has none."""
    if isinstance(node.spot, Position) and node.player != seat:
        for action in node.actions:
            if node.tree.keys.is_event_private(action):
                return action
    return NOTHING
