"""Immutable layers of sorted rows; tables are stacks of them. Start at `layer.Layer`."""
