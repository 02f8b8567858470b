"""Play on the terminal."""
