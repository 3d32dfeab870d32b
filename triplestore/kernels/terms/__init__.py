"""Kernels of the dictionary: hashing, sorting, values of literals."""
