"""Mille Bornes: its part of `arena`."""
