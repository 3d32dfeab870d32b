"""Servers under load: ours, and pyoxigraph behind the same web framework."""
