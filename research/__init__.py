"""Research questions about the game, a file for each: `python -m research.NAME` answers it (README.md)."""
