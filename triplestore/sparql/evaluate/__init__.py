"""Operators that only queries need, in addition to those of `triplestore.operators`."""
