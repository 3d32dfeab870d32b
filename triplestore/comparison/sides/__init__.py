"""The two sides of a comparison: files, revisions and stores, as two closed states. Start at states.py."""
