"""Inputs of benches: generated data, programs with data, and files of the shared data."""
