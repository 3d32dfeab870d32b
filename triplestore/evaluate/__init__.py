"""Matching of rule bodies: from changes to rule instances. Start at `evaluation.Evaluation`."""
