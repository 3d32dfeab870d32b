"""The page of all commands, from what `--help` says."""

from __future__ import annotations

import click

from triplestore.cli import main

_HEAD = """# Commands

What `triplestore COMMAND --help` says. [How to use them](../how-to/command-line.md) has examples
with their output.
"""


def command_page() -> str:
    """The page as Markdown."""
    parts = [_HEAD, _block(main, "triplestore", None)]
    context = click.Context(main, info_name="triplestore")
    for name in main.list_commands(context):
        command = main.get_command(context, name)
        if command is not None and not command.hidden:
            parts += [f"## {name}", _block(command, name, context)]
    return "\n\n".join(parts) + "\n"


def _block(command: click.Command, name: str, parent: click.Context | None) -> str:
    context = click.Context(
        command, info_name=name, parent=parent, max_content_width=96, terminal_width=96
    )
    return f"```text\n{command.get_help(context)}\n```"
