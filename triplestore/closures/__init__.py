"""Relations that are closures or unions of others, kept small: answered from, never written out."""
