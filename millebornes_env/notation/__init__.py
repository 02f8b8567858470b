"""Positions and games as text that a person can read and write; docs/notation.md describes the format.

It lies outside of the rulebooks, so that a change here does not compile them anew. What is exported here
takes any game of the table, but for the words of a single action, which are those of Mille Bornes. `records`
and `replays` serve all games; positions are written and read by the module `positions` in a game's folder,
those of games without one by `openings`.
"""

from millebornes_env.engine.rulebook import NEXT_ROUND
from millebornes_env.notation.jsonl import read_jsonl, write_jsonl
from millebornes_env.notation.millebornes.actions import read_action, write_action
from millebornes_env.notation.position import Position, read_position, write_position
from millebornes_env.notation.records import Play, Record, read_record, write_record
from millebornes_env.notation.replays import record_of, replay

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
