"""Scripts that train and evaluate agents: one file for each command; the other files are their parts."""
