"""What the training scripts share: network, loss, games, opponents, checkpoints, run folder."""
