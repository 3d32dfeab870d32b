"""What is checked before a document is parsed: depth, length, and what expands."""
