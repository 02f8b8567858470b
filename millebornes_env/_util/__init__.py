"""Helpers without a game: files, texts, versions, signals, argument checks."""
