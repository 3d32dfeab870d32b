"""Expressions and terms as text: tokens, parsers and printers."""
