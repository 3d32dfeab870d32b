"""What is on disk: section files, manifest, journal; and `Database`, which keeps them together.

Start reading at `database.Database`. DESIGN.md says what is on disk, why, and what survives what.
"""

from triplestore.storage.database import Database, DatabaseInfo
from triplestore.storage.state import State
from triplestore.storage.tuning import Tuning

__all__ = ["Database", "DatabaseInfo", "State", "Tuning"]
