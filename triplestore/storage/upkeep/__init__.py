"""Checkpoints, merges, compaction, backup and verification."""
