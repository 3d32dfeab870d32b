"""Who may do what: users, tokens, roles and sessions.

Start at `require` (caller.py), which every endpoint calls. `AccessControl` (control.py) finds out
who sends a request; users_file.py reads and writes the file of users.
"""

from triplestore.server.access.caller import Caller, caller_of, require
from triplestore.server.access.users_file import UserRecord, Users, read_users, write_users

__all__ = ["Caller", "UserRecord", "Users", "caller_of", "read_users", "require", "write_users"]
