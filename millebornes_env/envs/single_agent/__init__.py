"""Gymnasium environments: one learner, agents in all other seats (docs/environment/environments.md)."""
