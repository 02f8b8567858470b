"""The cycling race: its part of `arena`."""
