"""What the caller says of a table: templates of IRIs and properties of columns, checked.

Start at `Mapping.of`. A template is text with the names of columns in braces. Columns are named
`{id}` or `{any name}`; braces cannot be escaped, because no IRI contains them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping as MappingOf
from collections.abc import Sequence
from difflib import get_close_matches

import pyoxigraph as ox

from triplestore.data_classes import data_class
from triplestore.errors import UsageError
from triplestore.terms.vocabulary import RDF_DIR_LANG_STRING, RDF_LANG_STRING

_PLACE = re.compile(r"\{([^{}]+)\}")
_SHOWN_COLUMNS = 20
#: Text before the first place of a template after which any encoded value gives a valid IRI: the
#: authority is complete, or there is none.
_SAFE_START = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:(?:[^/]|//[^/?#]*[/?#])")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")


@data_class
class Property:
    """How a column becomes a property.

    iri : the property
    template : values are IRIs made by this template (see `load_table`), not literals
    datatype : the datatype of literals, instead of the one that the column's type calls for
    lang : the language of literals
    """

    iri: str
    template: str | None = None
    datatype: str | None = None
    lang: str | None = None


@data_class
class Template:
    """A checked template of IRIs.

    fixed : the texts around the places, one more than there are places
    names : the columns of the places
    whole : the value of the one column is an IRI by itself (`{id}`)
    check : what comes out must be checked: a value may stand in a scheme or an authority

    >>> Template.of("http://e.org/{a}/x{b}")
    Template(fixed=('http://e.org/', '/x', ''), names=('a', 'b'), whole=False, check=False)
    """

    fixed: tuple[str, ...]
    names: tuple[str, ...]
    whole: bool
    check: bool

    @classmethod
    def of(cls, text: str) -> Template:
        """The template that a text stands for."""
        if not isinstance(text, str):
            raise UsageError(
                f"a template of IRIs is a text such as 'http://...{{id}}', not {text!r}"
            )
        pieces = _PLACE.split(text)
        fixed, names = tuple(pieces[::2]), tuple(pieces[1::2])
        whole = len(names) == 1 and not any(fixed)
        if not names:
            raise UsageError(
                f"the template {text!r} names no column: give for example "
                "'http://example.org/person/{id}', or '{iri}' for a column of IRIs"
            )
        if not whole:
            try:
                ox.NamedNode("1".join(fixed) if fixed[0] else "x".join(fixed))
            except ValueError as error:
                raise UsageError(
                    f"the template {text!r} gives no absolute IRIs ({error}); give for example "
                    "'http://example.org/person/{id}'"
                ) from None
        plain = len(names) == 1 and "/" not in fixed[1] and _SCHEME.fullmatch(fixed[0])
        safe = plain or _SAFE_START.match(fixed[0])
        return cls(fixed, names, whole, not safe)


@data_class
class ColumnMapping:
    """A column and the property that its values have."""

    column: str
    iri: str
    template: Template | None = None
    datatype: str | None = None
    lang: str | None = None

    @property
    def as_written(self) -> bool:
        """Whether the value's text counts, whatever its type."""
        return not (self.template is None and self.datatype is None and self.lang is None)


@data_class
class Mapping:
    """All that is said of a table, with the IRIs written out."""

    subject: Template
    columns: tuple[ColumnMapping, ...]
    type: str | None

    @classmethod
    def of(
        cls,
        subject: str,
        properties: MappingOf[str, str | Property],
        type: str | None,
        prefixes: MappingOf[str, str],
    ) -> Mapping:
        """Check everything that does not depend on the table.

        >>> made = Mapping.of("http://e.org/{id}", {"name": "e:name"}, None, {"e": "http://e.org/"})
        >>> made.columns[0].iri, made.needed
        ('http://e.org/name', ['id', 'name'])
        """
        if not isinstance(properties, MappingOf):
            raise UsageError(
                "properties maps each column to the IRI of a property or to a Property: "
                'give for example {"name": "http://xmlns.com/foaf/0.1/name"}'
            )
        if not properties and type is None:
            raise UsageError("no properties are named: give properties={column: IRI}")
        return cls(
            Template.of(_expanded(subject, prefixes)),
            tuple(_column(name, given, prefixes) for name, given in properties.items()),
            None if type is None else checked_iri(type, "type", prefixes),
        )

    @property
    def needed(self) -> list[str]:
        """The columns that are read, in the order of their first use."""
        names = dict.fromkeys(self.subject.names)
        for column in self.columns:
            names[column.column] = None
            names.update(dict.fromkeys(column.template.names if column.template else ()))
        return list(names)

    @property
    def texts(self) -> set[str]:
        """The columns that only count as text; the type of a CSV's column is not guessed then."""
        typed = {column.column for column in self.columns if not column.as_written}
        return set(self.needed) - typed

    def check_columns(self, names: Sequence[str], table: str) -> None:
        """Refuse columns that the table does not have, or has twice."""
        for name in self.needed:
            count = list(names).count(name)
            if count == 0:
                close = get_close_matches(name, names, 1)
                meant = f" (did you mean {close[0]!r}?)" if close else ""
                more = len(names) - _SHOWN_COLUMNS
                shown = ", ".join(names[:_SHOWN_COLUMNS]) + (f" and {more} more" * (more > 0))
                raise UsageError(f"{table} has no column {name!r}{meant}; it has {shown}")
            if count > 1:
                raise UsageError(f"{table} has {count} columns called {name!r}: rename all but one")


def checked_iri(iri: str, what: str, prefixes: MappingOf[str, str]) -> str:
    """An absolute IRI, written out if it begins with a prefix."""
    try:
        return str(ox.NamedNode(_expanded(iri, prefixes)).value)
    except (ValueError, TypeError) as error:
        raise UsageError(
            f"{what}: {iri!r} is not an absolute IRI ({error}), and begins with no known prefix"
        ) from None


def _expanded(text: str, prefixes: MappingOf[str, str]) -> str:
    """A text with its prefix written out; `http://...` has none, even if `http` is a prefix."""
    if not isinstance(text, str) or ":" not in text:
        return text
    prefix, _, rest = text.partition(":")
    if prefix not in prefixes or rest.startswith("//"):
        return text
    return prefixes[prefix] + rest


def _column(name: str, given: str | Property, prefixes: MappingOf[str, str]) -> ColumnMapping:
    wanted = given if isinstance(given, Property) else Property(given)
    iri = checked_iri(wanted.iri, f"the property of column {name!r}", prefixes)
    said = [word for word in ("template", "datatype", "lang") if getattr(wanted, word) is not None]
    if len(said) > 1:
        raise UsageError(f"column {name!r}: give {said[0]} or {said[1]}, not both")
    if wanted.template is not None:
        template = Template.of(_expanded(wanted.template, prefixes))
        return ColumnMapping(name, iri, template=template)
    if wanted.lang is not None:
        return ColumnMapping(name, iri, lang=_checked_lang(wanted.lang, name))
    if wanted.datatype is not None:
        datatype = checked_iri(wanted.datatype, f"the datatype of column {name!r}", prefixes)
        if datatype in (RDF_LANG_STRING, RDF_DIR_LANG_STRING):
            raise UsageError(f"column {name!r}: give the language with lang=, not as a datatype")
        return ColumnMapping(name, iri, datatype=datatype)
    return ColumnMapping(name, iri)


def _checked_lang(tag: str, column: str) -> str:
    try:
        return str(ox.Literal("", language=tag).language).lower()
    except (ValueError, TypeError) as error:
        raise UsageError(f"column {column!r}: {tag!r} is not a language tag ({error})") from None
