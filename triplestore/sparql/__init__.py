"""SPARQL 1.1: text to algebra, algebra to plans, plans to solutions."""
