"""The cycling race: its part of `notation`."""
