"""Shared by the training scripts: options, network, loss, games, opponents, checkpoints, run folder."""
