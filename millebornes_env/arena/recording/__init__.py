"""Recorded games as Parquet files, with a row for each decision and a row for each round.

    from millebornes_env.arena.recording import Recording, check, open_data, record

    record(Path("data"), Recording(agents=("champion", "strategist")), rounds=1_000)
    data = open_data(Path("data"))
    data.decisions().to_pandas()

    folder.py    `record`: file by file, resumable; playing.py: the play
    tables.py    the Parquet files; notations.py: rounds as text
    checking.py  `check`: replays everything
    card.py      the data card; croissant.py: the metadata; description.py: the options, as JSON

Requires the extra `data` (`pip install 'millebornes-env[data]'`). docs/environment/records.md describes the
files.
"""

from millebornes_env.arena.recording.checking import check
from millebornes_env.arena.recording.description import Recording
from millebornes_env.arena.recording.folder import RecordedData, open_data, record
from millebornes_env.errors import ArenaError

__all__ = ["ArenaError", "RecordedData", "Recording", "check", "open_data", "record"]
