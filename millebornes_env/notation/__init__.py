"""Positions and games as human-readable text; docs/environment/records.md describes the format.

The functions exported here work for all games, except for `read_action` and `write_action`, which are for
Mille Bornes. `records` and `replays` serve all games; the module `positions` in a game's folder reads and
writes its positions, and `openings` those of games without such a module.
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
