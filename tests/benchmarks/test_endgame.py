"""The benchmark of ends plays both seats; who plays exactly cannot lose by it, whoever the other one is."""

from __future__ import annotations

from benchmarks.endgame import Args, ends, played_on


def test_exact_play_wins_in_both_seats_together_what_it_does_not_lose() -> None:
    args = Args(rounds=200)
    states = ends(args)
    assert len(states) > 20
    assert (states["draw_pile"] == 0).all()
    exact, own = (
        sum(
            played_on(args, f"champion+search:rollouts=2,threads=1,{how}", states, seat)[0] for seat in (0, 1)
        )
        for how in ("endgame=1000000000", "endgame=0,z=1e9")
    )
    assert (own == 0).all()  # the champion against itself, the same cards in both seats
    assert (exact >= 0).all()
    assert (exact > 0).any()
