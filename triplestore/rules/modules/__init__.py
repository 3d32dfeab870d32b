"""Recursive rules that a module may own, found by their shape. Start at `recognise`."""
