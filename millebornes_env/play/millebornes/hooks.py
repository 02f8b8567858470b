"""Hooks of Mille Bornes in `play` (`games.registry.HOOKS`)."""

from millebornes_env.play.language import millebornes as words
from millebornes_env.play.study.card_table import StudyTable
from millebornes_env.play.terminal.cards import CardSession
from millebornes_env.play.web.table import CardTable

study, session, table = StudyTable, CardSession, CardTable

__all__ = ["session", "study", "table", "words"]
