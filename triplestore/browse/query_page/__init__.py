"""What a page for queries needs: answers (query_data.py), plans (plan_data.py), and completion."""
