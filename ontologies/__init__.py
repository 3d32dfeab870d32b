"""Translators from ontology languages to rules (none yet)."""
