"""Equality by rewriting: one individual stands for all that are the same. Start at `rewriting`."""
