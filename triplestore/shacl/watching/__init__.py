"""Results kept up to date with every commit. Start at `watcher.py: Watcher`."""
