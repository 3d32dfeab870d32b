"""From files and tables to a store, on Spark. Start at `dataset.import_dataset`."""
