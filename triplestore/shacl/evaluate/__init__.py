"""Shapes evaluated over columns of ids. Start at `validation.py: Validation`."""
