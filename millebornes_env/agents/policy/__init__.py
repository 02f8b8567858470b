"""`policy`: a trained network, from the files of a run folder."""
