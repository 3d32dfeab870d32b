"""The page for a browser: its files, and the JSON API behind it."""
