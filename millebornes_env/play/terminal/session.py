"""Play any game on the terminal: a person in seat 0 against an agent in all other seats."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from millebornes_env._util.signals import Stopped
from millebornes_env.agents.protocol import Agent, Table, ask_in, forget
from millebornes_env.engine.kernels import SKIP
from millebornes_env.engine.numba.compiling import plain
from millebornes_env.engine.rulebook import NO_TEAM
from millebornes_env.envs.vector import VectorEnv
from millebornes_env.play.terminal.person import SEAT, UNDO, Person, UndoRequest, has_public_actions

Observations = dict[str, npt.NDArray[Any]]

_ANSWERS: Final = {"y": "yes", "yes": "yes", "n": "", "no": "", UNDO: UNDO}


class Session:
    """Consecutive episodes with a tally; a game may have a subclass (hook `play.session`).

    Attributes:
        env: environment of one game, reset, with autoreset disabled.
        opponent: the agent in all other seats.
        opponent_name: shown name of the agent.
        person: the person in seat 0.
        winners: winning teams of the finished episodes; `NO_TEAM`: shared.
    """

    person_class: type[Person] = Person

    def __init__(self, env: VectorEnv, opponent: Agent, name: str = "") -> None:
        self.env = env
        self.opponent = opponent
        self.opponent_name = name or opponent.name
        self.person: Any = self.person_class(Table.of(env))
        self.winners: list[int] = []
        self._observations: Observations = {}
        self._undo_states: list[tuple[VectorEnv, Any]] = []

    def play(self) -> None:
        """Play episodes until the person stops; raise KeyboardInterrupt in the middle of an episode."""
        self._observe()
        self._greet()
        answer = "yes"
        while answer:
            self._finish_episode()
            answer = self._ask_for_another()
            if answer == UNDO:
                self.winners.pop()
                self._take_back()
            elif answer:
                self._begin_episode()

    # Methods for subclasses to override --------------------------------------------------------------------

    def _greet(self) -> None:
        """Introduce the players."""
        you, *others = (self.person.names.seat(seat) for seat in range(self.env.players))
        self.person.say(f"You are {you}. {self.opponent_name} plays {', '.join(others)}.")

    def _describe_action(self, seat: int, action: int) -> None:
        """Describe an action of any seat."""
        describe = self.env.game.find_hook("render.describe_event")
        if describe is not None:
            for line in describe(self.env.get_states()[0], self.env.rules, action):
                self.person.say(line)
        elif seat and has_public_actions(self.env):
            self.person.say(f"{self.person.names.seat(seat)}: {self.person.words(action, seat)}")

    def _describe_step(self, before: Any, is_over: bool) -> None:
        """Describe the events of a step, given the state before it."""

    def _result(self, winner: int) -> str:
        """Describe the result: by the game's hook `render.draw_end`, or as the winner and the scores."""
        game, state, rules = self.env.game, self.env.games.states[0], self.env.rules
        if game.has("render.draw_end"):
            return game.end_of_drawing(state, rules).strip()
        rulebook = self.env.games.rulebook
        record, score = rulebook.rules_array(rules)[0], plain(rulebook.final_score)
        episode = self.env.settings.episode
        points = [int(score(state, record, episode, team)) for team in range(self.env.teams)]
        who = "Nobody" if winner == NO_TEAM else self.person.names.team(winner)
        return f"{who} wins{' alone' if winner == NO_TEAM else ''}. Points: {self._listed(points)}."

    # Common to all games -----------------------------------------------------------------------------------

    def _observe(self) -> None:
        """Observe the game without changing it."""
        self._observations = self.env.step(np.array([SKIP])).observations

    def _begin_episode(self) -> None:
        self._undo_states = []
        forget(self.person)
        forget(self.opponent)
        self._observations, _ = self.env.reset(options={"reset_mask": np.ones(1, np.bool_)})

    def _finish_episode(self) -> None:
        """Play the episode to its end, and describe the others' actions and the results of rounds."""
        is_over = False
        while not is_over:
            seat = int(self.env.agent_selection[0])
            action = self._action_of_person() if seat == SEAT else self._action_of_other()
            if action is not None:
                self._describe_action(seat, action)
                is_over = self._step(action)

    def _action_of_person(self) -> int | None:
        """Return the person's action; None after an undo."""
        before = self.env.clone(), copy.copy(self.person.kept)
        self.person.can_undo = bool(self._undo_states)
        try:
            action = int(self.person.choose(self.env, self._observations))
        except UndoRequest:
            self._take_back()
            return None
        self._undo_states.append(before)
        return action

    def _action_of_other(self) -> int:
        return int(ask_in(self.env, self.opponent, self._observations)[0])

    def _take_back(self) -> None:
        """Go back to the person's last decision, including the random numbers."""
        self.env, self.person.kept = self._undo_states.pop()
        self._observe()
        forget(self.opponent)
        self.person.say("Back to your last decision.")

    def _step(self, action: int) -> bool:
        """Apply an action; return True if the episode is over."""
        before = self.env.get_states()[0]
        self._observations, _, ended, _, infos = self.env.step(np.array([action]))
        is_over = bool(ended[0])
        self._describe_step(before, is_over)
        if is_over:
            winner = int(infos["final_winner"][0])
            self.winners.append(winner)
            self.person.say("\n" + self._result(winner))
        return is_over

    def _listed(self, amounts: Iterable[int]) -> str:
        """List the teams with a number each, such as "you: 1200, opponent: 75"."""
        names = self.person.names.all_teams()
        return ", ".join(f"{name}: {int(amount)}" for name, amount in zip(names, amounts, strict=False))

    def _ask_for_another(self) -> str:
        """Ask for another episode; return "yes", `UNDO`, or "" for no."""
        shared = self.winners.count(NO_TEAM)
        tally = self._listed([self.winners.count(team) for team in range(self.env.teams)])
        self.person.say(f"Won so far: {tally}{f', shared: {shared}' if shared else ''}.")
        self.person.say(f"Another {self.env.episode}? (y/n; {UNDO}: back to your last decision)")
        try:
            while (answer := self.person.read()) not in _ANSWERS or (
                answer == UNDO and not self._undo_states
            ):
                self.person.say(f"{answer!r} is not a valid answer: type y or n")
        except Stopped:
            raise
        except KeyboardInterrupt:  # between episodes, this is a normal end
            return ""
        return _ANSWERS[answer]
