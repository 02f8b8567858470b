"""The faces of the engine: one for each ecosystem, one file each."""
