"""What a change brings: which facts come and go, what is to blame for each, and how to undo one.

Start at `blame` (blame.py) and `retract` (retract.py). This package reads closed states and knows
nothing of stores; `comparison` makes the states that it is asked about.
"""
