"""What luck is worth: AIVAT and its networks."""
