"""The cycling race: its part of `render`."""
