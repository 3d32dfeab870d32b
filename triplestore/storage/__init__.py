"""What is on disk: section files, manifest, journal; and `Database`, which keeps them together."""
