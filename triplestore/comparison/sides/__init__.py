"""The two sides of a comparison, as closed states in one transaction. Start at states.py."""
