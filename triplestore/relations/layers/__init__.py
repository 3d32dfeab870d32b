"""Immutable layers of sorted rows, of which tables are stacks. Start at `layer.Layer`."""
