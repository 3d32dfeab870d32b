"""Reasoning in a store: rules in force, closures kept up to date. Start at `closing.Closing`."""
