"""Files of a store: sections, journal, manifest, lock. Start at `system`."""
