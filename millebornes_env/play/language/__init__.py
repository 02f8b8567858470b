"""Language models as players: a seat's view and legal moves in words, and the parsing of answers.

    view = see(situation(env), history)     # the view of the seat to act, as JSON values
    question = prompt(view)                 # the rules, the table, the history, the question
    answer = parse(model(question), view)   # the action, or the reason why it cannot be read or played

`legal_moves`, `prompt` and `parse` are pure functions of the view, and the view holds nothing that the seat
cannot see. docs/start/play.md shows the loop around them; `play.language.agent` is
an agent for the arena; `play.language.kaggle` and `play.language.textarena` are adapters.
"""

from millebornes_env.errors import PlayError
from millebornes_env.play.language.answers import Answer, parse
from millebornes_env.play.language.prompts import legal_moves, prompt
from millebornes_env.play.language.views import Situation, View, see, situation

__all__ = ["Answer", "PlayError", "Situation", "View", "legal_moves", "parse", "prompt", "see", "situation"]
