"""The functions of expressions: strings, numbers, times, regular expressions, SWRL."""
