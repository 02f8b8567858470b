"""Positions and games as text that a person can read and write; docs/notation.md describes the format.

It lies outside of the rulebooks, so that a change here does not compile them anew. What is exported here
takes any game of the table; `positions`, `records` and `replays` are those of Mille Bornes, `race_positions`
are those of the race, `game_records` and `openings` serve every game that has none of its own.
"""

from millebornes_env.games.millebornes.replay import NEXT_ROUND
from millebornes_env.notation.any_game import (
    read_position,
    read_record,
    record_of,
    replay,
    write_position,
    write_record,
)
from millebornes_env.notation.jsonl import read_jsonl, write_jsonl
from millebornes_env.notation.millebornes.records import Play, Record, read_action, write_action
from millebornes_env.notation.position import Position

__all__ = [
    "NEXT_ROUND",
    "Play",
    "Position",
    "Record",
    "read_action",
    "read_jsonl",
    "read_position",
    "read_record",
    "record_of",
    "replay",
    "write_action",
    "write_jsonl",
    "write_position",
    "write_record",
]
