"""Throughput of millebornes_env and of other card game environments, measured in the same way."""
