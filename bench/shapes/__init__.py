"""Graphs and settings in the shape of those that the papers on modules and schemes used."""
