"""What is known of the text index of a store: start at `text_index_info`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from triplestore.data_classes import data_class
from triplestore.live_line import LiveLine
from triplestore.text_search.index_folder import IndexFolder, remove_other_folders
from triplestore.text_search.languages import STEMMERS
from triplestore.text_search.searching import known_index, release, text_index_of
from triplestore.text_search.settings import TextSettings

if TYPE_CHECKING:
    from triplestore.storage import Database

_SHOWN = 5


@data_class
class TextIndexInfo:
    """A text index; prints as one line.

    properties  IRIs of the properties whose literals it holds; None for all
    languages   language tags with a stemmer, and the stemmer; "" stands for literals without a tag
    substrings  whether filters by parts of texts use it
    literals    number of literals in it; None if it is not made yet
    commit      the last commit that is noted on disk; None if none is
    disk_bytes  size of its files
    """

    properties: tuple[str, ...] | None
    languages: dict[str, str]
    substrings: bool
    literals: int | None
    commit: int | None
    disk_bytes: int

    def __str__(self) -> str:
        size = "not made yet"
        if self.literals is not None:
            s = "" if self.literals == 1 else "s"
            size = f"{self.literals:,} literal{s}, {self.disk_bytes:,} bytes on disk"
        more = "; substrings" if self.substrings else ""
        return f"{self._of()}; {self._stems()}{more}; {size}"

    def _of(self) -> str:
        if self.properties is None:
            return "all strings"
        shown = ", ".join(f"<{iri}>" for iri in self.properties[:_SHOWN])
        more = len(self.properties) - _SHOWN
        return f"literals of {shown}" + (f" and {more} more" if more > 0 else "")

    def _stems(self) -> str:
        if self.languages == STEMMERS:
            return "stems of all languages"
        tags = [tag or "no tag" for tag in self.languages]
        return f"stems of {', '.join(tags)}" if tags else "no stems"


def text_index_info(database: Database, settings: TextSettings) -> TextIndexInfo:
    """What is known of an index, without opening it."""
    literals = commit = None
    size = 0
    if database.path is not None:
        folder = IndexFolder(database.path / settings.folder)
        if folder.read() and folder.note is not None:
            literals, commit = folder.note.count, folder.note.commit
            size = folder.nbytes()
    index = known_index(database)
    if index is not None and index.is_open:
        literals = index.literals
    return TextIndexInfo(
        settings.properties,
        dict(settings.stemmers),
        settings.substrings,
        literals,
        commit,
        size,
    )


def complete_index(database: Database, settings: TextSettings, progress: bool) -> None:
    """Bring an index up to date; with `progress`, show that on stderr."""
    index = text_index_of(database.state.dictionary, settings)
    line = LiveLine() if progress else None

    def check() -> None:
        if line is not None:
            line.show(f"text index: {index.literals + index.adding:,} literals")

    try:
        index.catch_up(check)
    finally:
        if line is not None:
            line.clear()


def text_index_problems(database: Database, settings: TextSettings) -> list[str]:
    """What is wrong with the files of an index."""
    if database.path is None:
        return []
    folder = IndexFolder(database.path / settings.folder)
    if not folder.path.exists():
        return []
    if not folder.read():
        return [f"the text index {folder.path} cannot be read; it is made anew when it is used"]
    return [
        f"the file {name} of the text index {folder.path} is damaged: remove the folder, and the "
        "index is made anew when it is used"
        for name in folder.damaged_files(all_of_them=True)
    ]


def remove_text_folders(database: Database) -> None:
    """Remove the folders of indexes, of which the store has none any more."""
    release(database, remove=True)
    if database.path is not None:
        remove_other_folders(database.path, None)
