"""Training and evaluation scripts, one file for each, readable from top to bottom."""
