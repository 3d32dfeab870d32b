"""Closures and unions of relations, kept in compact form and not written out as pairs."""
