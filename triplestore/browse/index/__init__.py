"""The index behind `search_terms`: labels and names of terms by the beginnings of their words.

Start at `search_index.index_of`. `term_usage.py` says what terms are and how often they are used,
`label_texts.py` gives their texts, `folded_texts.py` makes them comparable, `word_index.py` finds
them.
"""
