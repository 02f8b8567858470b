"""Mille Bornes: its part of `notation`."""
