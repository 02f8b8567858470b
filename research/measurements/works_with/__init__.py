"""Learners of other libraries in their own style, measured by the time until they beat `random`."""
