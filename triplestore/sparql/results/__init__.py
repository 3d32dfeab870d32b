"""Results of queries in the W3C's formats, JSON, XML, CSV and TSV: written in bulk, and read."""

from triplestore.sparql.results.read import ReadSolutions, read_results
from triplestore.sparql.results.write import write_boolean, write_frames, write_rows

__all__ = ["ReadSolutions", "read_results", "write_boolean", "write_frames", "write_rows"]
