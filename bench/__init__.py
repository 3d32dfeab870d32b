"""Workloads and peers, measured side by side. Start at `__main__.py`; see DESIGN.md."""
