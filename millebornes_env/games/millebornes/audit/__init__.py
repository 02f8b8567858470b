"""Checks of a game record, for states from outside and for tests.

A law is a small function named after what it states; `violations` has a name and a message for each.

* `fields`: values that single fields can hold. The other laws rely on these.
* `soundness`: laws of every record that can be played on, including positions set up by hand.
* `reachability`: further laws of records that play from a deal leads to.

Laws of a step need more than one record; they are in `millebornes_env.testing`.
"""

from millebornes_env.engine.laws import NO_VIOLATION
from millebornes_env.games.millebornes.audit.reachability import violation_of
from millebornes_env.games.millebornes.audit.soundness import SCRATCH_SIZE, first_violation
from millebornes_env.games.millebornes.audit.violations import MESSAGES, message_of

__all__ = ["MESSAGES", "NO_VIOLATION", "SCRATCH_SIZE", "first_violation", "message_of", "violation_of"]
