"""The engine: closures of programs, and how they are maintained."""
