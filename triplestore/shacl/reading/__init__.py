"""Shapes graphs read into shapes. Start at `read_shapes.py: read_shapes`."""
