"""Played rounds in notation, for `notation.read_record`."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from millebornes_env.arena.recording.playing import Played
from millebornes_env.envs.vector import VectorEnv
from millebornes_env.notation import Play, write_position
from millebornes_env.notation.lines import PLAYS, RESULT
from millebornes_env.notation.play_words import PlayWords
from millebornes_env.notation.records import write_play


def notations(played: Played, env: VectorEnv) -> list[str]:
    """Return the text of each round: the deal with all cards to come, every play, and the result.

    The same as `notation.write_record`, without its checks.

    Args:
        played: the rounds.
        env: environment of the table.
    """
    words = PlayWords(env.game, env.rules)
    lines = [
        [write_play(Play(seat, action), words) for action in range(words.count)]
        for seat in range(env.players)
    ]
    sheets = {
        number: (env.sheet(number), env.rules_of_sheet(number)) for number in set(played.sheets.tolist())
    }
    ends = [0, *np.cumsum(played.lengths).tolist()]
    seats, actions = played.decisions.seats.tolist(), played.decisions.actions.tolist()
    texts = []
    rounds = zip(pairwise(ends), played.sheets.tolist(), played.begun, played.totals.tolist(), strict=True)
    for (first, last), sheet, state, total in rounds:
        position = write_position(state, *sheets[sheet], checked=False)
        plays = [lines[seats[index]][actions[index]] for index in range(first, last)]
        result = f"{RESULT}: {' '.join(map(str, total))}"
        texts.append("\n".join([f"{position}{PLAYS}:", *plays, result, ""]))
    return texts
