"""Relations over the layers of a snapshot: plain, wide, virtual, closed. Start at `plain`."""
