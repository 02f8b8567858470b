"""Episodes of any game on the terminal: a person in seat 0 against an agent in all other seats."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from millebornes_env._util.signals import Stopped
from millebornes_env.agents.protocol import Agent, ask_in, forget
from millebornes_env.engine.kernels import SKIP
from millebornes_env.engine.numba.compiling import plain
from millebornes_env.engine.rulebook import NO_TEAM
from millebornes_env.envs.vector import VectorEnv
from millebornes_env.play.terminal.human.terminal import UNDO, Terminal, UndoRequest
from millebornes_env.play.terminal.person import Person, name_of_seat, name_of_team, tells_actions

Observations = dict[str, npt.NDArray[Any]]

_ANSWERS: Final = {"y": "yes", "yes": "yes", "n": "", "no": "", UNDO: UNDO}


class Session:
    """Episodes, one after the other, with a tally.

    A game whose people want other words has a class of its own (`games.registry.Game.session`).

    Attributes:
        env: of one game, which was reset, with autoreset disabled.
        person: seat 0.
        opponent: all other seats.
        opponent_name: as the person reads it.
        winners: of the episodes that are over, by team; `NO_TEAM`: shared.
    """

    person: Any

    def __init__(self, env: VectorEnv, person: Terminal, opponent: Agent, name: str = "") -> None:
        self.env = env
        self.person = person
        self.opponent = opponent
        self.opponent_name = name or opponent.name
        self.winners: list[int] = []
        self._observations: Observations = {}
        self._past: list[tuple[VectorEnv, Any]] = []

    @classmethod
    def person_for(cls, env: VectorEnv) -> Terminal:
        """Who is asked at such a table."""
        return Person(env)

    def play(self) -> None:
        """Play on until the person has had enough.

        Raises:
            KeyboardInterrupt: the person wants to stop in the middle of an episode.
        """
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

    # What other games may say or do otherwise --------------------------------------------------------------

    def _greet(self) -> None:
        """Say who is who."""
        others = ", ".join(name_of_seat(seat) for seat in range(1, self.env.players))
        self.person.say(f"You are {name_of_seat(0)}. {self.opponent_name} plays {others}.")

    def _choose(self) -> int:
        """Ask the person."""
        return int(self.person.choose(self.env, self._observations))

    def _memory(self) -> Any:
        """What the person is reminded of, which goes back with a decision that is taken back."""
        return None

    def _remember(self, memory: Any) -> None:
        """Put it back."""

    def _tell_action(self, seat: int, action: int) -> None:
        """Say what happens when an action is carried out, the person's own too."""
        rulebook, rules = self.env.games.rulebook, self.env.rules
        if self.env.game.has("render.describe_event"):
            states = self.env.get_states()
            for line in self.env.game.hook("render.describe_event", "play")(states[0], rules, action):
                self.person.say(line)
        elif seat and tells_actions(self.env):
            self.person.say(f"{name_of_seat(seat)}: {rulebook.action_name(action, rules, seat)}")

    def _tell_step(self, before: Any, is_over: bool) -> None:
        """Say what there is to say after a step, from the record before it."""

    def _result(self, winner: int) -> str:
        """How the episode has ended: what the game draws at its end, or else the winner and the scores."""
        game, state, rules = self.env.game, self.env.games.states[0], self.env.rules
        if game.has("render.draw_end"):
            return game.end_of_drawing(state, rules).strip()
        rulebook = self.env.games.rulebook
        record, score = rulebook.rules_array(rules)[0], plain(rulebook.final_score)
        episode = self.env.settings.episode
        points = [int(score(state, record, episode, team)) for team in range(self.env.teams)]
        who = "Nobody" if winner == NO_TEAM else self._names()[winner]
        return f"{who} wins{' alone' if winner == NO_TEAM else ''}. Points: {self._listed(points)}."

    def _names(self) -> list[str]:
        """What the teams are called."""
        return [name_of_team(self.env, team) for team in range(self.env.teams)]

    # The same in all games ---------------------------------------------------------------------------------

    def _observe(self) -> None:
        """What the deciding seat sees, of a game that stays as it is."""
        self._observations = self.env.step(np.array([SKIP])).observations

    def _begin_episode(self) -> None:
        self._past = []
        forget(self.person)
        forget(self.opponent)
        self._observations, _ = self.env.reset(options={"reset_mask": np.ones(1, np.bool_)})

    def _finish_episode(self) -> None:
        """Play the episode to its end, telling what the others do and how each round ended."""
        is_over = False
        while not is_over:
            seat = int(self.env.agent_selection[0])
            action = self._action_of_person() if seat == 0 else self._action_of_other()
            if action is not None:
                self._tell_action(seat, action)
                is_over = self._step(action)

    def _action_of_person(self) -> int | None:
        """What the person does; None: took the last decision back."""
        before = self.env.clone(), copy.copy(self._memory())
        self.person.can_undo = bool(self._past)
        try:
            action = self._choose()
        except UndoRequest:
            self._take_back()
            return None
        self._past.append(before)
        return action

    def _action_of_other(self) -> int:
        return int(ask_in(self.env, self.opponent, self._observations)[0])

    def _take_back(self) -> None:
        """Go back to the person's last decision: all is where it was, and comes as it came."""
        self.env, memory = self._past.pop()
        self._remember(memory)
        self._observe()
        forget(self.opponent)
        self.person.say("Back to your last decision.")

    def _step(self, action: int) -> bool:
        """Carry out an action; whether the episode is over."""
        before = self.env.get_states()[0]
        self._observations, _, ended, _, infos = self.env.step(np.array([action]))
        is_over = bool(ended[0])
        self._tell_step(before, is_over)
        if is_over:
            winner = int(infos["final_winner"][0])
            self.winners.append(winner)
            self.person.say("\n" + self._result(winner))
        return is_over

    def _listed(self, amounts: Iterable[int]) -> str:
        """The teams with a number each: "you: 1200, opponent: 75"."""
        return ", ".join(
            f"{name}: {int(amount)}" for name, amount in zip(self._names(), amounts, strict=False)
        )

    def _ask_for_another(self) -> str:
        """Whether the person wants another episode: "yes", `UNDO`, or "" for no."""
        shared = self.winners.count(NO_TEAM)
        tally = self._listed([self.winners.count(team) for team in range(self.env.teams)])
        self.person.say(f"Won so far: {tally}{f', shared: {shared}' if shared else ''}.")
        self.person.say(f"Another {self.env.episode}? (y/n; {UNDO}: back to your last decision)")
        try:
            while (answer := self.person.read()) not in _ANSWERS or (answer == UNDO and not self._past):
                self.person.say(f"{answer!r} is no answer here: type y or n")
        except Stopped:
            raise
        except KeyboardInterrupt:  # nothing is broken off here
            return ""
        return _ANSWERS[answer]
