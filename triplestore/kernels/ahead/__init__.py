"""Kernels compiled ahead of time into an extension module, for wheels: no numba at run time."""
