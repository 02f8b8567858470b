"""`human`: a person at the terminal."""
