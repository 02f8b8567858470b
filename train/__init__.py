"""Scripts that train and evaluate agents: one file for each, readable from top to bottom."""

import os

# Before PyTorch is imported: its threads sleep while they wait for each other instead of spinning. On a
# machine that others use too, spinning made training many times slower (4.6 against 33 k decisions/s).
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
