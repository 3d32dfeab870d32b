"""Graphs and settings in the shape of those in the papers on modules and schemes."""
