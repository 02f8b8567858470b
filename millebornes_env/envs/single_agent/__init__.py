"""Gymnasium's view of a game: one learner, agents in all other seats; docs/gymnasium.md shows it in use."""
