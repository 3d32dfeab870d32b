"""Kernels over rows of integers: sorting, merging, joins, sets."""
