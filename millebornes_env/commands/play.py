"""Play against an agent, on the terminal.

    python -m millebornes_env play
    python -m millebornes_env play --against arnold --episode match
    python -m millebornes_env play --against runs/first --edition dujardin --players 4

You have seat 0; the agent plays all the others, your partners too. `hint` asks the champion what it would do,
`undo` takes your last decision back, `?` tells the rest.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, TextIO

import numpy as np
import numpy.typing as npt

from millebornes_env import VectorEnv, agents, vector_env
from millebornes_env.agents.human.agent import UNDO, HumanAgent, UndoRequest
from millebornes_env.agents.human.words import action_words, sentence_case
from millebornes_env.agents.protocol import Agent, Table, ask_in, forget, sees_hidden_cards
from millebornes_env.command_line import carry_out, complain
from millebornes_env.commands.options import TableArgs, parse_options, table_asked_for
from millebornes_env.millebornes.actions import PASS
from millebornes_env.millebornes.state import NO_TEAM, StateArray
from millebornes_env.render.names import is_plural
from millebornes_env.render.text import draw_score_sheet
from millebornes_env.stopping import Stopped, exit_code_of

Observations = dict[str, npt.NDArray[Any]]
Kept = dict[int, tuple[npt.NDArray[np.int64], int]]

_ANSWERS: Final = {"y": "yes", "yes": "yes", "n": "", "no": "", UNDO: UNDO}


@dataclass(kw_only=True)
class Args(TableArgs):
    """Play Mille Bornes against an agent, on the terminal."""

    episode: Literal["match", "round"] = "round"
    """Play whole matches, or single rounds."""
    seed: int | None = None
    """Seed of the deals and of the agents. None: other cards every time."""
    against: str = "strategist"
    """Who plays the other seats: `name:option=value`, the path of a run folder, or `my_file.py:Class`."""


def main(
    arguments: Sequence[str] | None = None, source: TextIO | None = None, sink: TextIO | None = None
) -> int:
    """Run the command line.

    Args:
        arguments: without the program's name; None for those of the process.
        source: where the answers come from; None: the standard input.
        sink: where the table is shown; None: the standard output.

    Returns:
        The exit code: 0; 2 if the arguments make no sense or nobody can answer; 130 if you stopped.
    """
    if source is None and sys.stdin is None:
        return complain("standard input is closed: nobody can answer")
    return carry_out(lambda: _command(arguments, source, sink), prints=sink is None)


def _command(arguments: Sequence[str] | None, source: TextIO | None, sink: TextIO | None) -> int:
    args = parse_options(Args, "play", arguments)
    seed = args.seed if args.seed is not None else int(np.random.default_rng().integers(2**32))
    edition, players = table_asked_for(args, [args.against])
    env = vector_env(
        1,
        edition,
        players=players,
        teams=args.teams,
        episode=args.episode,
        autoreset_mode="disabled",
    )
    env.reset(seed=seed)
    opponent = agents.load(args.against, env, seed)
    person = HumanAgent(Table.of(env))
    person.source, person.sink = source, sink
    person.adviser = lambda: adviser(env, seed)
    if sees_hidden_cards(opponent):
        person.say(f"note: {opponent.name} sees hidden cards")
    try:
        Session(env, person, opponent).play()
    except Stopped:
        raise
    except KeyboardInterrupt as stop:  # "q" or the end of the input: `HumanAgent` has said goodbye
        return exit_code_of(stop)
    return 0


def adviser(env: VectorEnv, seed: int) -> Agent:
    """Who is asked for hints: the champion, or the strategist where there is none for the table."""
    try:
        return agents.load("champion", env, seed)
    except agents.RunFolderError:
        return agents.load("strategist", env, seed)


class Session:
    """Episodes of a person in seat 0 against an agent in all other seats, with a tally.

    Attributes:
        env: of one game, which was reset, with autoreset disabled.
        person: seat 0.
        opponent: all other seats.
        names: what the players are called.
        winners: of the episodes that are over, by team; `NO_TEAM`: shared.
    """

    def __init__(self, env: VectorEnv, person: HumanAgent, opponent: Agent) -> None:
        self.env = env
        self.person = person
        self.opponent = opponent
        self.names = person.names
        self.winners: list[int] = []
        self._observations: Observations = {}
        self._past: list[tuple[StateArray, Kept]] = []

    def play(self) -> None:
        """Play on until the person has had enough.

        Raises:
            KeyboardInterrupt: the person wants to stop in the middle of an episode.
        """
        self._observations = self.env.set_states(self.env.get_states())
        answer = "yes"
        while answer:
            self._finish_episode()
            answer = self._ask_for_another()
            if answer == UNDO:
                self.winners.pop()
                self._take_back()
            elif answer:
                self._begin_episode()

    def _begin_episode(self) -> None:
        self._past = []
        self.person.forget()
        self._let_opponent_forget()
        self._observations, _ = self.env.reset(options={"reset_mask": np.ones(1, np.bool_)})

    def _finish_episode(self) -> None:
        """Play the episode to its end, telling what the others do and how each round ended."""
        is_over = False
        while not is_over:
            seat = int(self.env.agent_selection[0])
            action = self._action_of_person() if seat == 0 else self._action_of_other(seat)
            if action is not None:
                is_over = self._step(action)

    def _action_of_person(self) -> int | None:
        """What the person does; None: took the last decision back."""
        before = self.env.get_states(), dict(self.person.kept)
        self.person.can_undo = bool(self._past)
        try:
            action = int(ask_in(self.env, self.person, self._observations)[0])
        except UndoRequest:
            self._take_back()
            return None
        self._past.append(before)
        return action

    def _action_of_other(self, seat: int) -> int:
        action = int(ask_in(self.env, self.opponent, self._observations)[0])
        if action != PASS:  # that somebody could have claimed a coup fourré is hidden
            self.person.say(f"{self.names.seat(seat)}: {action_words(action, self.names, seat)}")
        return action

    def _take_back(self) -> None:
        """Go back to the person's last decision: all cards are where they were, and come as they came."""
        states, self.person.kept = self._past.pop()
        self._observations = self.env.set_states(states)
        self._let_opponent_forget()
        self.person.say("Back to your last decision.")

    def _let_opponent_forget(self) -> None:
        forget(self.opponent)

    def _step(self, action: int) -> bool:
        """Carry out an action; whether the episode is over."""
        number = int(self.env.games.states["round_number"][0])
        self._observations, _, ended, _, infos = self.env.step(np.array([action]))
        state = self.env.games.states[0]
        is_over = bool(ended[0])
        if is_over or int(state.round_number) != number:
            sheet = draw_score_sheet(state, self.env.rules, self.names.all_teams())
            self.person.say(f"\nRound {number + 1} is over.\n\n{sheet}")
        if is_over:
            winner = int(infos["final_winner"][0])
            self.winners.append(winner)
            self.person.say("\n" + self._result(winner))
        elif int(state.round_number) != number:
            self.person.say(f"\nPoints of the match: {self._listed(state.score)}")
        return is_over

    def _result(self, winner: int) -> str:
        """Who won and by how much; without points, by how many km."""
        counts_points, state = self.env.rules.count_points, self.env.games.states[0]
        unit, amounts = ("points", state.score) if counts_points else ("km", state.km)
        totals = [int(amount) for amount in amounts[: self.env.teams]]
        standing = sentence_case(f"{unit}: ") + self._listed(totals)
        if winner == NO_TEAM:
            return f"Nobody wins alone. {standing}."
        lead = totals[winner] - max(totals[:winner] + totals[winner + 1 :])
        name = self.names.team(winner)
        verb = "win" if is_plural(name) else "wins"
        margin = f" by {lead} {unit}" if lead > 0 else ""
        return f"{sentence_case(name)} {verb}{margin}. {standing}."

    def _listed(self, amounts: Iterable[int]) -> str:
        """The teams with a number each: "you: 1200, opponent: 75"."""
        return ", ".join(
            f"{name}: {int(amount)}" for name, amount in zip(self.names.all_teams(), amounts, strict=False)
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
