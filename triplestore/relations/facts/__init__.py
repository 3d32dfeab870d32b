"""Facts as the engine sees them: sorted keys, sets that grow, and views that combine them."""
