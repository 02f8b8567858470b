"""Error messages for illegal actions: game, seat, action, reason, and legal alternatives.

The option `illegal_action="terminate"` is carried out by `engine.kernels.apply_action`; the
reason comes from the game's `reasons.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from millebornes_env.engine.numba.compiling import plain
from millebornes_env.engine.rulebook import Rulebook
from millebornes_env.errors import ActionError, CallError, IllegalActionError, MilleBornesError, shown


def illegal_action_error(
    rulebook: Rulebook, state: Any, rules: Any, names: Sequence[str], action: int, game: int | None = None
) -> MilleBornesError:
    """Return the exception for an action that a game could not apply, and that did not change its record.

    `names` are those of the seats; `game` is the index of the game, None if there is only one.

    Returns:
        `CallError` if the game is over, `ActionError` if the id is out of range, else `IllegalActionError`.
    """
    if plain(rulebook.is_round_over)(state):
        return CallError(
            f"game {game or 0} has ended: begin its next episode with "
            'reset(options={"reset_mask": ...}), or skip it with action -1'
        )
    seat = int(state.seat)
    who = names[seat] if game is None else f"game {game}, {names[seat]}"
    count = rulebook.action_count(rules, None)
    if not 0 <= action < count:
        return ActionError(f"{who}: there is no action {shown(action)}; ids go from 0 to {count - 1}")
    is_legal, record = plain(rulebook.is_legal), rulebook.rules_array(rules)[0]
    choices = ", ".join(
        f"{rulebook.action_name(one, rules, seat)} ({one})"
        for one in range(count)
        if is_legal(state, record, one)
    )
    return IllegalActionError(
        f"{who}: {rulebook.action_name(action, rules, seat)!r} (action {action}) is not legal: "
        f"{rulebook.reason_against(state, rules, action)}. Legal now: {choices}"
    )
