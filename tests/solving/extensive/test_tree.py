"""A round as a tree: chance as it is, the rules of the engine, keys that lose nothing and tell nothing."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from functools import cache
from itertools import combinations, pairwise

import numpy as np
import pytest

from millebornes_env import edition, vector_env
from millebornes_env.errors import IllegalActionError, OptionError, StateError
from millebornes_env.solving.deck import solvable
from millebornes_env.solving.extensive import Tree, resample
from millebornes_env.solving.extensive.sets import next_of_set
from millebornes_env.solving.extensive.spots import CHANCE, OVER, Deal
from millebornes_env.solving.extensive.tree import Node
from millebornes_env.solving.tree import Grower
from millebornes_env.testing.states import check_state

FIVE = edition("mini7").replace(copies_of_50=2, copies_of_roll=1, copies_of_stop=1, hand_limit=1)
"""Two 50s, Roll, Stop and Right of Way."""


@cache
def five() -> Tree:
    return Tree(FIVE)


def played(tree: Tree, generator: np.random.Generator) -> list[Node]:
    """A random path to the end, cards as chance deals them."""
    nodes = [tree.root]
    while nodes[-1].player != OVER:
        node = nodes[-1]
        chances = [one.probability for one in node.outcomes] or None
        nodes.append(node.child(int(generator.choice(node.actions, p=chances))))
    return nodes


@pytest.mark.parametrize(("counts", "size"), [([3, 0, 2, 1], 1), ([3, 0, 2, 1], 3), ([1, 2], 3), ([4], 2)])
def test_each_set_of_cards_is_as_probable_as_its_copies_make_it(counts: list[int], size: int) -> None:
    result: dict[tuple[int, ...], Fraction] = {}

    def draw(chosen: tuple[int, ...], probability: Fraction) -> None:
        if len(chosen) == size:
            assert chosen not in result
            result[chosen] = probability
            return
        outcomes = next_of_set(counts, chosen, size)
        assert sum(Fraction(one.numerator, one.denominator) for one in outcomes) == 1
        for one in outcomes:
            draw((*chosen, one.card), probability * Fraction(one.numerator, one.denominator))

    draw((), Fraction(1))
    cards = [card for card, copies in enumerate(counts) for _ in range(copies)]
    every = Counter(tuple(sorted(one)) for one in combinations(cards, size))
    assert result == {one: Fraction(ways, every.total()) for one, ways in every.items()}


def test_chance_draws_from_the_cards_that_nobody_has_drawn() -> None:
    """Along a path, the probability of a card is its share of them."""
    for node in played(Tree("parker"), np.random.default_rng(3)):
        spot = node.spot
        if isinstance(spot, Deal) and spot.draw.size == 1:
            left = node.tree.undrawn(node.tree.record(spot.base))
            assert {one.card: one.probability for one in node.outcomes} == {
                card: pytest.approx(copies / left.total()) for card, copies in left.items()
            }


@pytest.mark.parametrize(
    ("name", "players"), [("parker", 2), ("dutch", 4), ("dujardin", 3), ("winning_moves", 2)]
)
def test_each_position_is_a_game_that_play_leads_to(name: str, players: int) -> None:
    """The laws of the audit hold, and payoffs add up to nothing."""
    tree = Tree(name, players=players)
    for seed in range(3):
        path = played(tree, np.random.default_rng(seed))
        for node in path:
            if node.player != CHANCE:
                check_state(tree.record(node.spot), tree.rules)
        assert sum(path[-1].payoffs) == pytest.approx(0)
        assert tree.node_of(path[-1].history()).key(0) == path[-1].key(0)
        assert max(map(abs, path[-1].payoffs)) <= tree.payoff_bound


def test_a_path_of_the_tree_is_a_game_of_the_engine() -> None:
    """The same actions from the same cards: the environment sees what the tree sees, play by play."""
    tree = Tree("parker", players=3)
    env = vector_env(1, "parker", players=3, autoreset_mode="disabled", history=True)
    env.reset()
    path = [node for node in played(tree, np.random.default_rng(8)) if node.player != CHANCE]
    for node, following in pairwise(path):
        env.set_states(tree.record(node.spot))
        assert env.agent_selection[0] == node.player
        assert tuple(env.legal_actions()) == node.actions
        assert (env.observe(1)[0] == tree.observe(node.spot, 1)).all()
        action = next(one.action for one in following.path() if one.parent is node)
        step = env.step([action])
        assert step.terminations[0] == (following.player == OVER)
    points = step.infos["final_score"][0].tolist()
    assert path[-1].payoffs == tuple(own - (sum(points) - own) / 2 for own in points)


def test_who_begins_can_be_drawn_by_chance() -> None:
    root = Tree(FIVE, first=-1).root
    assert [one.probability for one in root.outcomes] == [0.5, 0.5]
    for seat in (0, 1):
        node = root.child(seat)
        while node.player == CHANCE:
            node = node.child(node.actions[0])
        assert node.player == seat
        assert node.text(1 - seat).startswith(f"player_{1 - seat}: {1 - seat} deals")


@pytest.mark.parametrize("compact", [False, True])
def test_who_cannot_tell_nodes_apart_has_the_same_choices_there(compact: bool) -> None:
    """And the three forms of a key tell the same nodes apart, for those who watch, too."""
    choices: dict[bytes, tuple[int, ...]] = {}
    forms: dict[bytes, tuple[str, bytes]] = {}
    watched: dict[bytes, tuple[str, bytes]] = {}
    for node in five().nodes():
        if node.player >= 0:
            key = node.key(node.player, compact=compact)
            assert choices.setdefault(key, node.actions) == node.actions
            other = (
                node.text(node.player, compact=compact),
                node.tensor(node.player, compact=compact).tobytes(),
            )
            assert forms.setdefault(key, other) == other
            seat = 1 - node.player
            seen = node.text(seat, compact=compact), node.tensor(seat, compact=compact).tobytes()
            assert watched.setdefault(node.key(seat, compact=compact), seen) == seen
            assert not compact or "may claim" not in seen[0]
    assert len(set(forms.values())) == len(forms)
    assert len({text for text, _ in forms.values()}) == len({tensor for _, tensor in forms.values()})


def test_the_full_key_remembers_all_earlier_ones() -> None:
    for seed in range(20):
        path = played(five(), np.random.default_rng(seed))
        for seat in (0, 1):
            keys = [node.key(seat) for node in path]
            assert all(after.startswith(before) for before, after in pairwise(keys))


def test_the_compact_keys_are_the_information_sets_of_the_solver() -> None:
    """Two programs find as many of them: this tree, and the compiled walk over the public tree."""
    sets: list[set[bytes]] = [set(), set()]
    for node in five().nodes():
        if node.player >= 0:
            sets[node.player].add(node.key(node.player, compact=True))
    counts = Grower(solvable(FIVE)).whole().counts
    assert tuple(map(len, sets)) == counts.infosets
    ends = [node.payoffs[0] for node in five().nodes() if node.player == OVER]
    assert (min(ends), max(ends)) == (counts.lowest, counts.highest)


def test_a_resampled_node_looks_the_same_to_the_seat_and_not_to_the_others() -> None:
    generator = np.random.default_rng(5)
    for table in (("parker", 2), ("dutch", 4)):
        tree = Tree(table[0], players=table[1])
        path = [node for node in played(tree, generator) if node.player >= 0]
        for node in path[:: max(1, len(path) // 5)]:
            seat = node.player
            other = resample(node, generator)
            for form in (Node.key, Node.text):
                assert form(other, seat) == form(node, seat)
                assert form(other, seat, compact=True) == form(node, seat, compact=True)
            assert (other.tensor(seat) == node.tensor(seat)).all()
            assert (tree.observe(other.spot, seat) == tree.observe(node.spot, seat)).all()
            assert other.actions == node.actions
            rest = [one for one in range(tree.players) if one != seat]
            assert node is path[-1] or any(other.key(one) != node.key(one) for one in rest)


def test_resampling_draws_each_history_as_often_as_chance_does() -> None:
    """At a node of five cards, against the share of each node that the seat cannot tell apart."""
    generator = np.random.default_rng(1)
    path = next(
        path
        for path in (played(five(), generator) for _ in range(100))
        if len([n for n in path if n.player == 0]) > 2
    )
    node = [one for one in path if one.player == 0][2]
    reach: dict[tuple[int, ...], float] = {}
    waiting = [(five().root, 1.0)]
    while waiting:
        one, probability = waiting.pop()
        if one.player == 0 and one.key(0) == node.key(0):
            reach[one.history()] = probability
        chances = [o.probability for o in one.outcomes] or [1.0] * len(one.actions)
        waiting += [(one.child(a), probability * p) for a, p in zip(one.actions, chances, strict=True)]
    assert len(reach) > 1
    draws = 3_000
    result = Counter(resample(node, generator).history() for _ in range(draws))
    assert set(result) <= set(reach)
    for history, probability in reach.items():
        share = probability / sum(reach.values())
        assert abs(result[history] / draws - share) < 5 * (share * (1 - share) / draws) ** 0.5


def test_bad_arguments_are_told() -> None:
    with pytest.raises(OptionError, match="'wielerspel' has no list of chance nodes"):
        Tree("arc_en_ciel", players=3)
    with pytest.raises(OptionError, match="first is 2; it must be a seat, 0 to 1, or -1"):
        Tree(FIVE, first=2)
    root = five().root
    with pytest.raises(
        IllegalActionError, match=r"chance has no action 17 here; there are 1 \(player_0 draws 50 km\)"
    ):
        root.child(17)
    with pytest.raises(OptionError, match="nobody is to act there"):
        resample(root, np.random.default_rng())
    node = root
    while node.player == CHANCE:
        node = node.child(node.actions[0])
    with pytest.raises(IllegalActionError, match="player_0 has no action 40 here"):
        node.child(40)
    with pytest.raises(StateError, match="none of 0 histories"):
        resample(node, np.random.default_rng(), most_tries=0)


def test_a_tree_that_forgets_finds_the_same_again() -> None:
    small = Tree(FIVE, most_kept=10)
    for seed in range(5):
        path = played(small, np.random.default_rng(seed))
        again = five().node_of(path[-1].history())
        assert (again.payoffs, again.key(0), again.key(1)) == (
            path[-1].payoffs,
            path[-1].key(0),
            path[-1].key(1),
        )
