"""Mille Bornes: its part of `solving`."""
