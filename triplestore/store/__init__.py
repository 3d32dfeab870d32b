"""The store: transactions, and one face over dictionary, tables, loaders and storage.

Start reading at `store.Store`. What it can read, in `reading.py`, it shares with a `Snapshot` and
with a `Transaction`; pattern look-ups are in `matching.py`. How writes become one commit:
`transaction.py` gathers them, `settling.py` and `replacing.py` find out what they change, and
`outcome.py` makes one step of all. How a commit keeps the closure of the rules exact: `closing.py`.
DESIGN.md has the decisions and measurements.
"""

from triplestore.loaders import convert as convert_file
from triplestore.reasoning.outcome import Change
from triplestore.reasoning.violations import Violation
from triplestore.relations.lookup import Rows
from triplestore.store.info import Info
from triplestore.store.readable import Reading
from triplestore.store.snapshot import Snapshot
from triplestore.store.store import Store
from triplestore.store.transaction import Transaction

__all__ = [
    "Change",
    "Info",
    "Reading",
    "Rows",
    "Snapshot",
    "Store",
    "Transaction",
    "Violation",
    "convert_file",
]
