"""Relations that are unions of others, kept as views."""
