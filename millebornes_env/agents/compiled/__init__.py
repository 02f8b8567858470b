"""Building blocks of compiled agents: the frame, the reader of observations, lists of preferences."""
