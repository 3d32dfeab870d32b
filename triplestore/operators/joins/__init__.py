"""Joins of frames and relations. Start at `hash_join`."""
