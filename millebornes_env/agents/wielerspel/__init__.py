"""The cycling race: its part of `agents`."""
