"""SHACL: shapes validated over columns of ids, and kept up to date with every commit."""
