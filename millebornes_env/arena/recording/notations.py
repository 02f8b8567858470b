"""Played rounds in notation, for `notation.read_record`."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from millebornes_env.arena.recording.playing import Played
from millebornes_env.envs.vector import VectorEnv
from millebornes_env.notation import Play
from millebornes_env.notation.lines import PLAYS, RESULT, text_of_words
from millebornes_env.notation.millebornes.positions import words_of_positions
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
    ends = [0, *np.cumsum(played.lengths).tolist()]
    seats, actions = played.decisions.seats.tolist(), played.decisions.actions.tolist()
    texts = []
    rounds = zip(pairwise(ends), _positions(played, env), played.totals.tolist(), strict=True)
    for (first, last), position, total in rounds:
        plays = [lines[seats[index]][actions[index]] for index in range(first, last)]
        result = f"{RESULT}: {' '.join(map(str, total))}"
        texts.append("\n".join([f"{position}{PLAYS}:", *plays, result, ""]))
    return texts


def _positions(played: Played, env: VectorEnv) -> list[str]:
    """Return the text of each round's deal; the rounds of a deal begin with the same record."""
    deals = (np.arange(len(played.begun)) + played.first_round) // env.teams
    _, firsts, deal_of_round = np.unique(deals, return_index=True, return_inverse=True)
    sheets, texts = played.sheets[firsts], [""] * len(firsts)
    for sheet in set(sheets.tolist()):
        dealt = np.flatnonzero(sheets == sheet)
        states = played.begun[firsts[dealt]]
        words = words_of_positions(states, env.sheet(sheet), env.rules_of_sheet(sheet))
        for deal, said in zip(dealt.tolist(), words, strict=True):
            texts[deal] = text_of_words(said)
    return [texts[deal] for deal in deal_of_round.tolist()]
