"""Gymnasium environments: one learner, agents in all other seats (examples: docs/gymnasium.md)."""
