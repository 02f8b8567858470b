"""What compiled agents are made of: the frame, the reader of observations, lists of preferences."""
