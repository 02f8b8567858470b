"""Checks of a game record: for states that come from outside, and for tests.

A law is a small function named after what it says. `violations` names what is found where one is broken.

* `fields`: what a single field can hold. The laws below rely on these.
* `soundness`: what holds for every record that can be played on, one that was set up by hand included.
* `reachability`: what holds, besides, for every record that play from a deal leads to.

What a step may change needs more than one record: `millebornes_env.testing` checks that.
"""

from millebornes_env.engine.laws import NO_VIOLATION
from millebornes_env.games.millebornes.audit.reachability import violation_of
from millebornes_env.games.millebornes.audit.soundness import SCRATCH_SIZE, first_violation
from millebornes_env.games.millebornes.audit.violations import MESSAGES, message_of

__all__ = ["MESSAGES", "NO_VIOLATION", "SCRATCH_SIZE", "first_violation", "message_of", "violation_of"]
