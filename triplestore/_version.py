"""The version of the package, in one place (pyproject.toml reads it)."""

VERSION = "0.1.0"
