"""Bulk import and closures on Spark: what a cluster prepares, the embedded store goes on with.

pyspark is imported in this package only, and only when one of its functions is called. It stands
above the store, as the command line does: the store never imports it.
"""
