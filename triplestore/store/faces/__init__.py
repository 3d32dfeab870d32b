"""Methods of stores, snapshots and transactions: one class for each feature, which they inherit.

The work is done in the packages below; these classes check arguments and pass them on.
"""
