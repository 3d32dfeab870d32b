"""Kernels that fire small rules and search for proofs."""
