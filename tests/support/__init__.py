"""Helpers for the tests of several packages."""
