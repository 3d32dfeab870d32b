"""Kernels that read and write N-Triples and cut Turtle."""
