"""The frame of compiled agents."""
