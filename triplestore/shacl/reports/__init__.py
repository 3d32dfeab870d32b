"""Results as reports, for people and programs. Start at `report.py: ValidationReport`."""
