"""`history=True`: what each seat has seen of each game, and keys of it, beside the records."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

from millebornes_env import millebornes_v0, vector_env
from millebornes_env.errors import OptionError
from millebornes_env.games.millebornes.state import CLAIM
from millebornes_env.solving.extensive import Node, Tree
from millebornes_env.solving.extensive.spots import CHANCE

FORMS = ("bytes", "text", "tensor")


def mini(num_envs: int, **options: Any) -> Any:
    env = vector_env(num_envs, "mini7", history=True, autoreset_mode="disabled", **options)
    env.reset(seed=4)
    return env


def at(position: str) -> Any:
    """A game with a history that begins at a position."""
    env = vector_env(1, "parker", history=True)
    env.reset(seed=1)
    env.reset(options={"positions": position})
    return env


def play(env: Any, name: str) -> None:
    """Play the legal action of this name."""
    env.step([next(action for action, one in env.legal_actions().items() if one == name)])


def steps(env: Any, most: int) -> None:
    for _ in range(most):
        env.step(env.sample_actions())


def keys(env: Any, game: int, seat: int) -> list[object]:
    return [
        np.asarray(env.information_states(seat, form=form, compact=compact)[game]).tolist()
        for form in FORMS
        for compact in (False, True)
    ]


def same_node(before: Node, action: int, after: Any) -> Node:
    """The node after an action, with the cards that were drawn in a record."""
    node = before.child(action)
    while node.player == CHANCE:
        seat = node.spot.draw.seat
        held = np.bincount(before.tree.hand(before.spot, seat), minlength=19)
        drawn = np.arange(19).repeat(np.maximum(after["hand"][seat] - held, 0))
        node = node.child(int(drawn[len(node.spot.chosen)]))
    return node


@pytest.mark.parametrize("name", ["mini7", "parker"])
def test_the_environment_and_the_tree_make_the_same_keys(name: str) -> None:
    """Two programs: one adds up what steps have shown, the other walks through chance nodes."""
    env = vector_env(6, name, history=True, autoreset_mode="disabled")
    env.reset(seed=4)
    trees = [Tree(name, first=first) for first in (0, 1)]
    nodes = []
    for game in range(6):
        node = trees[env.agent_selection[game]].root
        hands = env.games.states["hand"][game]
        while node.player == CHANCE:
            seat, chosen = node.spot.draw.seat, len(node.spot.chosen)
            node = node.child(int(np.arange(19).repeat(hands[seat])[chosen]))
        nodes.append(node)
    for _ in range(40):
        actions = env.sample_actions()
        env.step(actions)
        for game in np.flatnonzero(actions >= 0).tolist():
            nodes[game] = same_node(nodes[game], int(actions[game]), env.games.states[game])
        for compact in (False, True):
            for seat in (0, 1):
                asked = {form: env.information_states(seat, form=form, compact=compact) for form in FORMS}
                for game, node in enumerate(nodes):
                    assert asked["bytes"][game] == node.key(seat, compact=compact)
                    assert asked["text"][game] == node.text(seat, compact=compact)
                    assert (asked["tensor"][game] == node.tensor(seat, compact=compact)).all()


def test_a_key_says_in_words_what_a_seat_has_seen() -> None:
    hands = "hand 0: stop 25\nhand 1: right_of_way 50"
    streams = "stream 0: 75 ...\nstream 1: 100 200 roll ..."
    env = at(f"battle 0: roll\n{hands}\n{streams}")
    assert env.public_events() == []
    play(env, "discard 25 km")
    row = env.history.starts[0][1].hex()
    assert env.information_states(1, form="text") == [
        f"player_1: 0 discard 25 km; 1 draws 100 km (from a position, {row})"
    ]
    assert env.information_states(0, form="text", compact=True)[0].startswith(
        "player_0: 0 discard 25 km; holds Stop (from"
    )
    play(env, "play Right of way")
    assert env.public_events() == ["0 discard 25 km", "1 play Right of way"]
    assert env.information_states(1, form="text")[0].startswith(
        "player_1: 0 discard 25 km; 1 draws 100 km; 1 play Right of way; 1 draws 200 km (from"
    )
    with pytest.raises(OptionError, match="game 0 began at a position, which a tensor cannot encode"):
        env.information_states(form="tensor")


@pytest.mark.parametrize("answer", ["claim the coup fourré", "let the hazard stand"])
def test_who_could_claim_and_does_not_keeps_it_to_himself(answer: str) -> None:
    env = at("battle 1: roll\nhand 0: stop 25\nhand 1: right_of_way 50\nstream 1: 100 75 ...")
    play(env, "Stop against team 1")
    assert env.public_events() == ["0 Stop against team 1"]
    asked = env.information_states(1, form="text", compact=True)[0]
    assert "holds 50 km, Right of way; may claim (from" in asked
    play(env, answer)
    is_claimed = answer.startswith("claim")
    drawn = "1 draws 75 km; 1 draws 100 km" if is_claimed else "1 draws 100 km"
    assert env.public_events()[1:] == ([f"1 {answer}"] if is_claimed else [])
    assert env.information_states(1, form="text")[0].startswith(
        f"player_1: 0 Stop against team 1; 1 may claim; 1 {answer}; {drawn} (from"
    )
    told = f"; 1 {answer}" if is_claimed else ""
    assert env.information_states(0, form="text")[0].startswith(
        f"player_0: 0 Stop against team 1{told} (from"
    )


@pytest.mark.parametrize("compact", [False, True])
def test_the_attacker_cannot_tell_whether_somebody_may_claim(compact: bool) -> None:
    """While the holder of the safety is asked, and where nobody holds it: the same keys."""
    result = []
    for hand in ("right_of_way 50", "25 50"):
        env = at(f"battle 1: roll\nhand 0: stop 25\nhand 1: {hand}\nstream 1: 100 75 ...")
        play(env, "Stop against team 1")
        assert (env.games.states["phase"][0] == CLAIM) == ("right_of_way" in hand)
        result.append([env.information_states(0, form=form, compact=compact) for form in ("bytes", "text")])
    assert result[0] == result[1]


def test_no_key_depends_on_what_is_hidden_from_the_seat() -> None:
    """The hidden cards are dealt anew, of the record and of the history."""
    env = vector_env(20, "parker", history=True)
    env.reset(seed=4)
    steps(env, 30)
    seats, tree_keys = env.agent_selection.copy(), env.history.copy()
    before = [env.information_states(seats, form=form, compact=c) for form in FORMS for c in (False, True)]
    assert not (env.determinize(seats, seed=3)["hand"] == env.games.states["hand"]).all()
    # Other draws of the others: each of their events that is theirs alone becomes another card.
    codes = tree_keys.codes
    hidden = tree_keys.keys.is_private(codes) & (codes % 2 != seats[:, np.newaxis])
    assert hidden.any()
    codes[hidden] = tree_keys.keys.code(0, tree_keys.keys.actions + 4) + codes[hidden] % 2
    env.set_states(env.determinize(seats, seed=3), tree_keys)
    after = [env.information_states(seats, form=form, compact=c) for form in FORMS for c in (False, True)]
    assert [np.asarray(one).tolist() for one in after] == [np.asarray(one).tolist() for one in before]


def test_copies_keep_their_own_history() -> None:
    env = mini(3)
    steps(env, 2)
    others = [env.clone(), pickle.loads(pickle.dumps(env))]
    states, history = env.get_states(), env.history.copy()
    before = [keys(env, 1, seat) for seat in (0, 1)]
    steps(env, 2)
    assert [keys(env, 1, seat) for seat in (0, 1)] != before
    env.set_states(states, history)
    for one in (env, *others):
        assert [keys(one, 1, seat) for seat in (0, 1)] == before
    actions = env.sample_actions()
    for one in (env, *others):
        one.step(actions)
    assert keys(env, 1, 0) == keys(others[0], 1, 0) == keys(others[1], 1, 0)
    assert [keys(env, 1, seat) for seat in (0, 1)] != before


def test_states_without_their_history_begin_a_new_one() -> None:
    env = mini(2)
    steps(env, 2)
    env.set_states(env.get_states())
    assert env.public_events() == []
    first, second = env.information_states(0)
    assert len(first) == 2 + len(env.history.starts[0][0])
    assert (first == second) == (env.observe(0)[0] == env.observe(0)[1]).all()
    env.reset(seed=2)
    assert env.public_events()[0].endswith("deals")


@pytest.mark.parametrize("mode", ["same_step", "next_step"])
def test_each_episode_has_its_own_history(mode: str) -> None:
    env = vector_env(4, "mini7", history=True, autoreset_mode=mode)
    env.reset(seed=1)
    ended = 0
    for _ in range(60):
        step = env.step(env.sample_actions())
        ended += int(step.terminations.sum())
        for game in range(4):
            events = env.public_events(game)
            assert sum(event.endswith(" deals") for event in events) == 1
            assert events[0].endswith(" deals")
            if mode == "same_step" and step.terminations[game]:
                assert len(events) == 1
    assert ended > 4


def test_an_agent_of_the_aec_environment_asks_for_its_own() -> None:
    env, batch = millebornes_v0.env("mini7", history=True), mini(1)
    env.reset(seed=3)
    batch.reset(seed=3)
    for _ in range(6):
        action = int(np.flatnonzero(env.last()[0]["action_mask"])[0])
        env.step(action)
        batch.step([action])
        assert env.vector.public_events() == batch.public_events()
        for seat, agent in enumerate(env.possible_agents):
            for form in FORMS:
                mine = env.information_state(agent, form=form, compact=True)
                other = batch.information_states(seat, form=form, compact=True)[0]
                assert np.asarray(mine == other).all()
    with pytest.raises(OptionError, match="there is no agent 'player_7'"):
        env.information_state("player_7")


def test_what_cannot_be_told_is_refused() -> None:
    plain = vector_env(2, "mini7")
    plain.reset()
    assert plain.history is None
    for ask in (plain.information_states, plain.public_events):
        with pytest.raises(OptionError, match=r"needs a history: make the environment with history=True"):
            ask()
    env = mini(2)
    with pytest.raises(OptionError, match="this environment has no history"):
        plain.set_states(env.get_states(), env.history)
    with pytest.raises(OptionError, match=r"it must be env\.history\.copy"):
        env.set_states(env.get_states(), [])  # type: ignore[arg-type]
    with pytest.raises(OptionError, match="the history is of 3 games of 'millebornes'"):
        env.set_states(env.get_states(), mini(3).history)
    with pytest.raises(OptionError, match="form is 'json'"):
        env.information_states(form="json")
    with pytest.raises(OptionError, match="history is 'yes'; it must be True or False"):
        vector_env(2, history="yes")  # type: ignore[arg-type]
    with pytest.raises(OptionError, match="'wielerspel' has no history of events"):
        vector_env(2, "arc_en_ciel", players=3, history=True)
