"""Requests of queries and updates over HTTP, only to places that a caller allowed."""
