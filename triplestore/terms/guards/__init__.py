"""Checks before a document is parsed: depth, length and expansion."""
