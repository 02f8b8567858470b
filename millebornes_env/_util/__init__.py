"""Helpers that know no game: files, texts, versions, signals, argument checks."""
