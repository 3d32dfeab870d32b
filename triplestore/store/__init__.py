"""The store: transactions, and one interface to dictionary, tables, loaders and storage.

Start reading at `store.Store`. It shares its reading methods (`readable.py`) with `Snapshot` and
`Transaction`; all of them read a `StateView` (`state_view.py`). `writes/` gathers
writes and makes one commit of them; `reasoning/closing.py` keeps the inferred facts exact.
"""

from triplestore.loaders import convert as convert_file
from triplestore.reasoning.outcome import Change
from triplestore.reasoning.violations import Violation
from triplestore.relations.lookup import QuadColumns
from triplestore.store.faces.classifying import Classifying
from triplestore.store.info import Info
from triplestore.store.readable import ReadableStore
from triplestore.store.snapshot import Snapshot
from triplestore.store.store import Store
from triplestore.store.transaction import Transaction

Classifying.make_store = Store

__all__ = [
    "Change",
    "Info",
    "QuadColumns",
    "ReadableStore",
    "Snapshot",
    "Store",
    "Transaction",
    "Violation",
    "convert_file",
]
