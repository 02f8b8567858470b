"""Environments: one file for each ecosystem's interface."""
