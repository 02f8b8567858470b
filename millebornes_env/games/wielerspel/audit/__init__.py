"""Checks of the record of a race, for states from outside and for tests.

A law is a small function named after what it states; `violations` has a name and a message for each.

* `fields`: values that single fields can hold. The other laws rely on these.
* `soundness`: laws of every record that can be raced on, including positions set up by hand.
* `reachability`: further laws of records that play from a start leads to.

Laws of a step need more than one record; they are in `tests/laws/wielerspel/step_laws.py`.
"""

from millebornes_env.engine.laws import NO_VIOLATION
from millebornes_env.games.wielerspel.audit.reachability import check_laws, violation_of
from millebornes_env.games.wielerspel.audit.soundness import first_violation
from millebornes_env.games.wielerspel.audit.violations import MESSAGES, message_of

__all__ = ["MESSAGES", "NO_VIOLATION", "check_laws", "first_violation", "message_of", "violation_of"]
