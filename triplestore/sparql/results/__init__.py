"""Results of queries, and the W3C's formats JSON, XML, CSV and TSV: written in bulk, and read."""
