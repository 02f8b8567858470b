"""Checks of the record of a race: for states that come from outside, and for tests.

A law is a small function named after what it says. `violations` names what is found where one is broken.

* `fields`: what a single field can hold. The laws below rely on these.
* `soundness`: what holds for every record that can be raced on, one that was set up by hand included.
* `reachability`: what holds, besides, for every record that play from a start leads to.

Laws of a step need more than one record; they are in `tests/laws/wielerspel/step_laws.py`.
"""

from millebornes_env.engine.laws import NO_VIOLATION
from millebornes_env.games.wielerspel.audit.reachability import check_laws, violation_of
from millebornes_env.games.wielerspel.audit.soundness import first_violation
from millebornes_env.games.wielerspel.audit.violations import MESSAGES, message_of

__all__ = ["MESSAGES", "NO_VIOLATION", "check_laws", "first_violation", "message_of", "violation_of"]
