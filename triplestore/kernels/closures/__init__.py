"""Kernels over graphs: reachability, components, hierarchies."""
