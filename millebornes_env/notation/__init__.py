"""Positions and games as text that a person can read and write; docs/notation.md describes the format.

It lies outside of the rulebook, so that a change here does not compile that anew.
"""

from millebornes_env.millebornes.replay import NEXT_ROUND
from millebornes_env.notation.jsonl import read_jsonl, write_jsonl
from millebornes_env.notation.positions import Position, read_position, write_position
from millebornes_env.notation.records import (
    Play,
    Record,
    read_action,
    read_record,
    write_action,
    write_record,
)
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
