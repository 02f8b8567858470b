"""Played rounds in notation, for `notation.read_record`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from millebornes_env.arena.recording.playing import Played
from millebornes_env.envs.vector import VectorEnv
from millebornes_env.notation import Play
from millebornes_env.notation.lines import PLAYS, RESULT, text_of_words
from millebornes_env.notation.millebornes.positions import words_of_positions
from millebornes_env.notation.play_words import PlayWords
from millebornes_env.notation.records import write_play

if TYPE_CHECKING:
    import pyarrow


def notations(played: Played, env: VectorEnv) -> pyarrow.StringArray:
    """Return the text of each round: the deal with all cards to come, every play, and the result.

    The same as `notation.write_record`, without its checks.

    Args:
        played: the rounds.
        env: environment of the table.
    """
    import pyarrow  # noqa: PLC0415 - of the extra `data`
    import pyarrow.compute  # noqa: PLC0415 - joins texts faster than Python

    words, decisions = PlayWords(env.game, env.rules), played.decisions
    lines = [
        f"{write_play(Play(seat, action), words)}\n"
        for seat in range(env.players)
        for action in range(words.count)
    ]
    line_of_decision = decisions.seats.astype(np.int32) * words.count + decisions.actions
    ends = np.concatenate([[0], np.cumsum(played.lengths)]).astype(np.int32)
    plays = pyarrow.ListArray.from_arrays(ends, pyarrow.array(lines).take(pyarrow.array(line_of_decision)))
    parts = (
        pyarrow.array([f"{position}{PLAYS}:\n" for position in _positions(played, env)]),
        pyarrow.compute.binary_join(plays, ""),
        pyarrow.array([f"{RESULT}: {' '.join(map(str, total))}\n" for total in played.totals.tolist()]),
    )
    return pyarrow.compute.binary_join_element_wise(*parts, "")


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
