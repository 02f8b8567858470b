"""Studies: participants play in the browser, and every decision is recorded with its time.

`python -m millebornes_env play --study DIR` runs a study (docs/start/play.md). Hidden cards stay on the
server: a page only receives its seat's view. `read_study` and `transitions` read DIR, without an extra.
"""

from millebornes_env.errors import JournalError, PlayError
from millebornes_env.play.study.reading import StudyGame, read_study, transitions

__all__ = ["JournalError", "PlayError", "StudyGame", "read_study", "transitions"]
