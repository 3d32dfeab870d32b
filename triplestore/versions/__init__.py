"""Other states than the newest one: branches, which are private, and past commits.

Start at `private_state.py` (what a branch is), `edits.py` (what it did, in terms instead of ids),
`conflicts.py` (what the store did meanwhile).
"""
