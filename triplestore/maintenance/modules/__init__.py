"""Modules: groups of recursive rules that an algorithm of their own evaluates."""
