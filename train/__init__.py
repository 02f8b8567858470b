"""Scripts that train and evaluate agents: one file for each, readable from top to bottom."""
