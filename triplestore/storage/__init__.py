"""Files on disk: section files, manifest and journal; and `Database`, which manages them.

Start reading at `database.Database`. DESIGN.md describes the files and what survives a crash.
"""

from triplestore.storage.database import Database, DatabaseInfo
from triplestore.storage.state import State
from triplestore.storage.thresholds import StorageThresholds

__all__ = ["Database", "DatabaseInfo", "State", "StorageThresholds"]
