"""Mille Bornes on the terminal: rounds and matches in everyday words."""

from __future__ import annotations

from typing import Any

from millebornes_env.agents.protocol import Table, ask_in
from millebornes_env.envs.vector import VectorEnv
from millebornes_env.games.millebornes.actions import PASS
from millebornes_env.games.millebornes.state import NO_TEAM
from millebornes_env.play.terminal.human.agent import HumanAgent
from millebornes_env.play.terminal.human.words import action_words, sentence_case
from millebornes_env.play.terminal.session import Session
from millebornes_env.render.millebornes.text import draw_score_sheet
from millebornes_env.render.names import is_plural


class CardSession(Session):
    """Rounds or matches of a person in seat 0 against an agent in all other seats."""

    person: HumanAgent

    @classmethod
    def person_for(cls, env: VectorEnv) -> HumanAgent:
        """Return the person for a table."""
        return HumanAgent(Table.of(env))

    def _greet(self) -> None:
        """Say nothing: the table names the players."""

    def _choose(self) -> int:
        return int(ask_in(self.env, self.person, self._observations)[0])

    def _memory(self) -> Any:
        return self.person.kept

    def _remember(self, memory: Any) -> None:
        self.person.kept = memory

    def _names(self) -> list[str]:
        return self.person.names.all_teams()

    def _tell_action(self, seat: int, action: int) -> None:
        if seat and action != PASS:  # a missed coup fourré is hidden
            names = self.person.names
            self.person.say(f"{names.seat(seat)}: {action_words(action, names, seat)}")

    def _tell_step(self, before: Any, is_over: bool) -> None:
        """Show the score sheet at the end of a round, and the points of the match."""
        state, number = self.env.games.states[0], int(before["round_number"])
        if is_over or int(state.round_number) != number:
            sheet = draw_score_sheet(state, self.env.rules, self._names())
            self.person.say(f"\nRound {number + 1} is over.\n\n{sheet}")
        if not is_over and int(state.round_number) != number:
            self.person.say(f"\nPoints of the match: {self._listed(state.score)}")

    def _result(self, winner: int) -> str:
        """Describe the winner and the margin in points, or in km for editions without points."""
        counts_points, state = self.env.rules.count_points, self.env.games.states[0]
        unit, amounts = ("points", state.score) if counts_points else ("km", state.km)
        totals = [int(amount) for amount in amounts[: self.env.teams]]
        standing = sentence_case(f"{unit}: ") + self._listed(totals)
        if winner == NO_TEAM:
            return f"Nobody wins alone. {standing}."
        lead = totals[winner] - max(totals[:winner] + totals[winner + 1 :])
        name = self.person.names.team(winner)
        verb = "win" if is_plural(name) else "wins"
        margin = f" by {lead} {unit}" if lead > 0 else ""
        return f"{sentence_case(name)} {verb}{margin}. {standing}."
