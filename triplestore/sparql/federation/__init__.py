"""SERVICE: patterns that another endpoint answers."""
