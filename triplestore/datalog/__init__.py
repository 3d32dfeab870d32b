"""Datalog programs: as data, as text, checked and stratified."""
