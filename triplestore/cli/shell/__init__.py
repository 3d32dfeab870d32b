"""The shell: `triplestore shell my.db`. Start at `command.py`, then `session.py`.

    command.py      the click command
    terminal.py     the prompt, history and Ctrl-C
    statements.py   when a statement is complete, and which kind it is
    session.py      carries statements out
    commands.py     the commands that begin with a dot
    completion.py   what Tab offers

Lines are read with `readline` of the standard library: it edits, searches the history and
completes, and needs nothing to be installed. prompt_toolkit would add colours while typing.
"""
