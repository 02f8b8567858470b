"""Studies with people: participants play in the browser, and every decision is written down with its time.

`python -m millebornes_env play --study DIR` runs one (docs/studies.md). The hidden cards stay on the server:
a page is sent what its seat sees. `read_study` and `transitions` read DIR back, and need no extra for it.
"""

from millebornes_env.errors import JournalError, MessageError, PlayError
from millebornes_env.play.study.reading import StudyGame, read_study, transitions

__all__ = ["JournalError", "MessageError", "PlayError", "StudyGame", "read_study", "transitions"]
