"""Text indexes of a store, as methods: start at `TextSearching.index_text`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from triplestore.storage.metadata import TEXT_INDEX
from triplestore.store.state_view import text_settings_in
from triplestore.store.store_directory import StoreDirectory
from triplestore.store.writes.writing_calls import WritingCalls

if TYPE_CHECKING:
    from pyoxigraph import NamedNode

    from triplestore.reasoning.outcome import Change
    from triplestore.storage.state import Meta
    from triplestore.store.writes.writer import TransactionWriter
    from triplestore.text_search.report import TextIndexInfo


class TextSearching(StoreDirectory, WritingCalls):
    """A store whose literals can be searched by their words; see `Store`."""

    _without_text: Meta | None = None  # named values of a store without index, looked at before

    def index_text(
        self,
        properties: Iterable[str | NamedNode] | str | NamedNode | None = None,
        languages: Iterable[str] | Mapping[str, str] | None = None,
        *,
        substrings: bool = False,
    ) -> Change:
        """Index the words of literals, for `text:query` in SPARQL; replaces an earlier index.

        `properties` are the properties whose literals are indexed, as IRIs, names with a prefix or
        terms; None for all strings. `languages` are the language tags whose literals are also found
        by the stems of their words (all that have a stemmer, if None); a mapping gives tags the
        stemmer of a language, where "" stands for literals without a tag: `{"": "en"}`.

        With `substrings`, filters such as `CONTAINS(?x, "...")` and `REGEX(?x, "...")` on indexed
        literals use the index where that is less work; it is three times as large then.

        The index holds asserted and inferred facts of all graphs; every commit keeps it exact. It
        lies in a folder beside the store, and is made when it is first used. Needs the extra
        `text`. The same call again changes nothing.

        >>> from triplestore import Store
        >>> store = Store()
        >>> _ = store.load('''@prefix : <http://ex.org/> .
        ...     :a :label "Solar panels"@en . :b :label "Wind farm"@en .''', "ttl")
        >>> _ = store.index_text([":label"])
        >>> print(store.query('''PREFIX text: <http://jena.apache.org/text#>
        ...     SELECT ?x ?literal { (?x ?score ?literal) text:query "panel" }'''))
        ?x  ?literal
        --  -----------------
        :a  "Solar panels"@en
        """
        # Late: few stores have a text index.
        from triplestore.text_search.literal_index import tantivy_module
        from triplestore.text_search.searching import release
        from triplestore.text_search.settings import TextSettings

        tantivy_module()
        settings = TextSettings.of(properties, languages, substrings, self.prefixes)

        def keep(writer: TransactionWriter) -> None:
            before = text_settings_in(writer.kept)
            if before is None or not before.agrees(settings):
                writer.keep({TEXT_INDEX: settings.to_bytes()})

        before = self._view().text
        if before is not None and not before.agrees(settings):
            release(self._database, remove=True)
        return self._change(keep)

    def complete_text_index(self, *, progress: bool = False) -> None:
        """Bring the text index up to date now, instead of with the next query or in the background.

        `progress` shows progress on stderr.

        >>> from triplestore import Store
        >>> store = Store()
        >>> _ = store.load("<http://ex.org/a> <http://ex.org/p> 'sun' .", "ttl")
        >>> _ = store.index_text()
        >>> store.complete_text_index()
        >>> store.text_indexes[0].literals
        1
        """
        settings = self._view().text
        if settings is not None:
            # Late: few stores have a text index.
            from triplestore.text_search.report import complete_index

            complete_index(self._database, settings, progress)

    def drop_text_index(self) -> Change:
        """Remove the text index; nothing happens if there is none.

        >>> from triplestore import Store
        >>> store = Store()
        >>> _ = store.index_text()
        >>> _ = store.drop_text_index()
        >>> store.text_indexes
        ()
        """
        change = self._change(lambda writer: writer.keep({TEXT_INDEX: None}))
        # Late: few stores have a text index.
        from triplestore.text_search.report import remove_text_folders

        remove_text_folders(self._database)
        return change

    @property
    def text_indexes(self) -> tuple[TextIndexInfo, ...]:
        """The text index of the store, if it has one: what it holds, and its size.

        >>> from triplestore import Store
        >>> store = Store()
        >>> _ = store.index_text(["http://ex.org/label"], languages=["en"])
        >>> print(store.text_indexes[0])
        literals of <http://ex.org/label>; stems of en; ...
        """
        settings = self._view().text
        if settings is None:
            return ()
        # Late: few stores have a text index.
        from triplestore.text_search.report import text_index_info

        return (text_index_info(self._database, settings),)

    # -- upkeep -----------------------------------------------------------------------------------

    def _note_commit(self, change: Change | None, commit: int) -> None:
        super()._note_commit(change, commit)
        meta = self._database.state.meta
        if meta is self._without_text:
            return
        settings = text_settings_in(meta)
        if settings is None:
            self._without_text = meta
        elif not self._database.read_only:
            # Late: few stores have a text index.
            from triplestore.text_search.searching import wake

            wake(self._database, settings)

    def optimize(self) -> None:
        """Merge everything into as few files as possible and drop unused terms."""
        settings = self._view().text
        if settings is None:
            super().optimize()
            return
        # Late: few stores have a text index.
        from triplestore.text_search.searching import renumbering

        # Terms get other ids: the index is made anew, in another folder, so that a reader of the
        # store as it was never sees ids that mean something else.
        with self._database.alone, renumbering(self._database):
            kept = {TEXT_INDEX: settings.renewed().to_bytes()}
            self._change(lambda writer: writer.keep(kept))
            super().optimize()

    def verify(self, *, closure: bool = False, progress: bool = False) -> list[str]:
        """The problems found in structure, checksums and kept counts of all files, in words.

        With `closure`, if there are none, also those that `audit` finds in the inferred facts.
        """
        problems = super().verify(closure=closure, progress=progress)
        settings = text_settings_in(self._database.state.meta)
        if settings is not None:
            # Late: few stores have a text index.
            from triplestore.text_search.report import text_index_problems

            problems += text_index_problems(self._database, settings)
        return problems

    def close(self) -> None:
        """Make everything durable and release the directory; the store is closed then."""
        if TEXT_INDEX in self._database.state.meta:
            # Late: few stores have a text index.
            from triplestore.text_search.searching import release

            release(self._database, catch_up=not self._database.read_only)
        super().close()
