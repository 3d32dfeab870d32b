"""Closures and unions of relations, kept in compact form and never written out."""
