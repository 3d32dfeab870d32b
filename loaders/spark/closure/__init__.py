"""Programs evaluated on DataFrames, for closures that one machine cannot hold."""
