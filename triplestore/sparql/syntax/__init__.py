"""Text of queries and updates to algebra, and back. Start at `parser`."""
