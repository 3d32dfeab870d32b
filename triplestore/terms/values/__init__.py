"""The values of literals: exact, as keys, and in columns. Start at `value_keys`."""
