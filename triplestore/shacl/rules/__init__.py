"""Rules of shapes (`sh:rule`) as rules of ours. Start at `translate.py: rules_of_shapes`."""
