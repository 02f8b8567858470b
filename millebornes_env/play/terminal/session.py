"""Play any game on the terminal: a person in seat 0 against an agent in all other seats."""

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
    """Consecutive episodes with a tally; a game may have its own subclass (`games.registry.Game.session`).

    Attributes:
        env: environment of one game, reset, with autoreset disabled.
        person: the person in seat 0.
        opponent: the agent in all other seats.
        opponent_name: shown name of the agent.
        winners: winning teams of the finished episodes; `NO_TEAM`: shared.
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
        """Return the person for a table."""
        return Person(env)

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
        others = ", ".join(name_of_seat(seat) for seat in range(1, self.env.players))
        self.person.say(f"You are {name_of_seat(0)}. {self.opponent_name} plays {others}.")

    def _choose(self) -> int:
        """Ask the person."""
        return int(self.person.choose(self.env, self._observations))

    def _memory(self) -> Any:
        """Return the person's memory, to be restored after an undo."""
        return None

    def _remember(self, memory: Any) -> None:
        """Restore the person's memory."""

    def _tell_action(self, seat: int, action: int) -> None:
        """Describe an action, also the person's own."""
        rulebook, rules = self.env.games.rulebook, self.env.rules
        if self.env.game.has("render.describe_event"):
            states = self.env.get_states()
            for line in self.env.game.hook("render.describe_event", "play")(states[0], rules, action):
                self.person.say(line)
        elif seat and tells_actions(self.env):
            self.person.say(f"{name_of_seat(seat)}: {rulebook.action_name(action, rules, seat)}")

    def _tell_step(self, before: Any, is_over: bool) -> None:
        """Describe the events of a step, given the state before it."""

    def _result(self, winner: int) -> str:
        """Describe the end of the episode: the game's own drawing, or the winner and the scores."""
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
        """Return the names of the teams."""
        return [name_of_team(self.env, team) for team in range(self.env.teams)]

    # Common to all games -----------------------------------------------------------------------------------

    def _observe(self) -> None:
        """Observe the game without changing it."""
        self._observations = self.env.step(np.array([SKIP])).observations

    def _begin_episode(self) -> None:
        self._past = []
        forget(self.person)
        forget(self.opponent)
        self._observations, _ = self.env.reset(options={"reset_mask": np.ones(1, np.bool_)})

    def _finish_episode(self) -> None:
        """Play the episode to its end, and describe the others' actions and the results of rounds."""
        is_over = False
        while not is_over:
            seat = int(self.env.agent_selection[0])
            action = self._action_of_person() if seat == 0 else self._action_of_other()
            if action is not None:
                self._tell_action(seat, action)
                is_over = self._step(action)

    def _action_of_person(self) -> int | None:
        """Return the person's action; None after an undo."""
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
        """Go back to the person's last decision, including the random numbers."""
        self.env, memory = self._past.pop()
        self._remember(memory)
        self._observe()
        forget(self.opponent)
        self.person.say("Back to your last decision.")

    def _step(self, action: int) -> bool:
        """Apply an action; return True if the episode is over."""
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
        """List the teams with a number each, such as "you: 1200, opponent: 75"."""
        return ", ".join(
            f"{name}: {int(amount)}" for name, amount in zip(self._names(), amounts, strict=False)
        )

    def _ask_for_another(self) -> str:
        """Ask for another episode; return "yes", `UNDO`, or "" for no."""
        shared = self.winners.count(NO_TEAM)
        tally = self._listed([self.winners.count(team) for team in range(self.env.teams)])
        self.person.say(f"Won so far: {tally}{f', shared: {shared}' if shared else ''}.")
        self.person.say(f"Another {self.env.episode}? (y/n; {UNDO}: back to your last decision)")
        try:
            while (answer := self.person.read()) not in _ANSWERS or (answer == UNDO and not self._past):
                self.person.say(f"{answer!r} is not an answer: type y or n")
        except Stopped:
            raise
        except KeyboardInterrupt:  # between episodes, this is a normal end
            return ""
        return _ANSWERS[answer]
