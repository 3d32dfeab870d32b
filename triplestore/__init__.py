"""An embedded RDF triple store with inference for Python."""
