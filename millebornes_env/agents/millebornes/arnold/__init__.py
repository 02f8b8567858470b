"""`arnold`: the questions that it asks, and the values that it gives to the answers."""
