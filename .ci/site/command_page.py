"""The page of all commands, from what `--help` says."""

from __future__ import annotations

from collections.abc import Iterator

import click

from triplestore.cli import main

_HEAD = """# Commands

What `triplestore COMMAND --help` says. [How to use them](../how-to/command-line.md) has examples
with their output.
"""


def command_page() -> str:
    """The page as Markdown."""
    context = click.Context(main, info_name="triplestore")
    parts = [_HEAD, _block(main, "triplestore", None), *_listed(main, context, "##")]
    return "\n\n".join(parts) + "\n"


def _listed(group: click.Group, context: click.Context, level: str) -> Iterator[str]:
    """The commands of a group, and below each group its own."""
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if command is not None and not command.hidden:
            path = f"{context.command_path} {name}".removeprefix("triplestore ")
            yield f"{level} {path}"
            yield _block(command, name, context)
            if isinstance(command, click.Group):
                inner = click.Context(command, info_name=name, parent=context)
                yield from _listed(command, inner, f"{level}#")


def _block(command: click.Command, name: str, parent: click.Context | None) -> str:
    context = click.Context(
        command, info_name=name, parent=parent, max_content_width=96, terminal_width=96
    )
    return f"```text\n{command.get_help(context)}\n```"
