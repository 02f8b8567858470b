"""Learners of other libraries, each as its own users write it, and how soon they beat `random`."""
