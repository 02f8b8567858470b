"""Benchmarks: throughput beside other card game environments, training speed, start-up time, champions."""
