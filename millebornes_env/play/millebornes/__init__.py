"""Mille Bornes: its part of `play`."""
