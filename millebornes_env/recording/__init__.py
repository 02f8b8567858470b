"""Games recorded as data: Parquet files with a row for each decision and a row for each round.

    from millebornes_env.recording import Recording, check, open_data, record

    record(Path("data"), Recording(agents=("champion", "strategist")), rounds=1_000)
    data = open_data(Path("data"))
    data.decisions().to_pandas()

It needs the extra `data` (`pip install 'millebornes-env[data]'`). docs/data.md describes the files.
"""

from millebornes_env.recording.checking import check
from millebornes_env.recording.description import Recording
from millebornes_env.recording.errors import RecordingError
from millebornes_env.recording.folder import RecordedData, open_data, record

__all__ = ["RecordedData", "Recording", "RecordingError", "check", "open_data", "record"]
