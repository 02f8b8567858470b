"""Mille Bornes: its part of `testing`."""
