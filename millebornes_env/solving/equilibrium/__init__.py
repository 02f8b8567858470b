"""`equilibrium`: policies for the mini decks that nobody can win anything from, and who plays them."""
