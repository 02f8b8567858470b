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
    positions = _positions(played, env)
    deals = (np.arange(len(played.begun)) + played.first_round) // env.teams
    ends = [0, *np.cumsum(played.lengths).tolist()]
    seats, actions = played.decisions.seats.tolist(), played.decisions.actions.tolist()
    texts = []
    for (first, last), deal, total in zip(
        pairwise(ends), deals.tolist(), played.totals.tolist(), strict=True
    ):
        plays = [lines[seats[index]][actions[index]] for index in range(first, last)]
        result = f"{RESULT}: {' '.join(map(str, total))}"
        texts.append("\n".join([f"{positions[deal]}{PLAYS}:", *plays, result, ""]))
    return texts


def _positions(played: Played, env: VectorEnv) -> dict[int, str]:
    """Return the text of each deal by its number; the rounds of a deal begin with the same record."""
    deals = (np.arange(len(played.begun)) + played.first_round) // env.teams
    numbers, rounds = np.unique(deals, return_index=True)
    sheets = played.sheets[rounds]
    positions: dict[int, str] = {}
    for sheet in set(sheets.tolist()):
        dealt = played.begun[rounds[sheets == sheet]]
        words = words_of_positions(dealt, env.sheet(sheet), env.rules_of_sheet(sheet))
        positions |= zip(numbers[sheets == sheet].tolist(), map(text_of_words, words), strict=True)
    return positions
