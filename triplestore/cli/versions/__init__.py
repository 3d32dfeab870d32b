"""The commands about other states of a store: branches and the past."""
