"""How many hostile calls there are: 518 were tried once by hand; at least twice as many are tried here."""

from __future__ import annotations

from tests.hostile import players, texts, vector
from tests.hostile.table import counts


def test_every_face_has_as_many_calls_as_were_tried_by_hand_and_more() -> None:
    found = counts([*vector.ARGUMENTS, *texts.ARGUMENTS, *players.ARGUMENTS])
    assert found[vector.VECTOR] >= 2 * 219
    assert found[vector.AEC] >= 2 * 138
    assert found[players.FACE] >= 2 * 149
    assert sum(found.values()) >= 2 * 518
