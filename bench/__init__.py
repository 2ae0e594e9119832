"""Measurements; see `bench.run`."""
