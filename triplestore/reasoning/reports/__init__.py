"""What a store tells about its reasoning: reports, warnings, counts by rule."""
