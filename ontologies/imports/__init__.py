"""Where imported ontologies are found. Start at `catalogue.Catalogue`."""
