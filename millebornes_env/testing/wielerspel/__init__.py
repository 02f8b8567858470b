"""The cycling race: its part of `testing`."""
