"""Operators that only queries need, beside those of `triplestore.operators`."""
