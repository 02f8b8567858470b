"""Gymnasium environments: one learner, agents in all other seats.

    env.py        one game as a `gymnasium.Env`; vector.py: N games; games.py: what both share
    opponents.py  makes the opponents
    kernels.py    plays them, in the compiled loop `play_on`

docs/environment/environments.md describes the options.
"""
