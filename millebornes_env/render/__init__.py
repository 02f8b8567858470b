"""Pictures of a game, in text."""
