"""Relations that are defined by chains of properties, kept as reachability in a product graph."""
