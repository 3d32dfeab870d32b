"""What queries and updates may read over the network: start at `Services`.

Always true: an IRI is only fetched if an entry of the list allows it, after every redirection
again; the empty list allows nothing. The host of an entry is never a prefix of another host.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any, TypeAlias
from urllib.parse import SplitResult, unquote, urlsplit

from triplestore.data_classes import data_class
from triplestore.errors import UsageError

Address: TypeAlias = tuple[int, int, int, str, Any]
"""A resolved address, as `socket.getaddrinfo` returns it."""

_PORTS = {"http": 80, "https": 443}
_BOUNDARIES = "/?#:="


@data_class
class Services:
    """The endpoints that SERVICE may ask, and the limits of their answers.

    allow       entries: an IRI allows itself and what is below it (`https://ex.org/sparql` also
                allows `https://ex.org/sparql?graph=a`, but not `https://ex.org/sparql2`); an entry
                that ends with `/` or `*` allows what begins with it
    private     whether a host name may have an address of this machine or of a private network; an
                entry whose host is such an address, or `localhost`, allows it for itself
    rows        maximum number of rows of one answer
    bytes       maximum number of bytes of one answer
    seconds     maximum number of seconds of one request, reading its answer included
    redirects   maximum number of redirections of one request
    batch       maximum number of rows that one request sends along
    resolve     finds the addresses of a host and port instead of `socket.getaddrinfo`

    >>> Services(["https://ex.org/sparql"]).allows("https://ex.org/sparql")
    True
    >>> Services(["https://ex.org"]).allows("https://ex.org.evil.com/")
    False
    """

    allow: Iterable[str] = ()
    private: bool = False
    rows: int = 10_000_000
    bytes: int = 1 << 30
    seconds: float = 120.0
    redirects: int = 5
    batch: int = 1000
    resolve: Callable[[str, int], list[Address]] | None = None

    def __post_init__(self) -> None:
        if isinstance(self.allow, str):
            raise UsageError(
                f"allow must be a list of IRIs, not a text: use for example [{self.allow!r}]"
            )
        object.__setattr__(self, "allow", tuple(self.allow))
        for entry in self.allow:
            if not isinstance(entry, str) or not urlsplit(entry).scheme:
                raise UsageError(
                    f"{entry!r} is not an absolute IRI or the beginning of one; use for example "
                    "'https://query.wikidata.org/sparql' or 'https://example.org/'"
                )
        for name in ("rows", "bytes", "seconds", "batch"):
            if getattr(self, name) <= 0:
                raise UsageError(f"{name} must be more than 0, not {getattr(self, name)}")
        if self.redirects < 0:
            raise UsageError(f"redirects must be at least 0, not {self.redirects}")

    def allows(self, iri: str) -> bool:
        """Whether an entry allows an IRI."""
        return self._entry_for(iri) is not None

    def allows_private(self, iri: str) -> bool:
        """Whether the host of an allowed IRI may be on this machine or in a private network."""
        if self.private:
            return True
        entry = self._entry_for(iri)
        return entry is not None and _is_private_name(urlsplit(entry.rstrip("*")).hostname or "")

    def with_entries(self, entries: Iterable[str]) -> Services:
        """The same with more entries."""
        return replace(self, allow=(*self.allow, *Services(entries).allow))

    def _entry_for(self, iri: str) -> str | None:
        """An entry that allows an IRI; one that names a private host, if there is one."""
        parts = _split(iri)
        if parts is None or parts.username is not None or parts.password is not None:
            return None
        if ".." in unquote(parts.path).replace("\\", "/").split("/"):
            return None
        found = [entry for entry in self.allow if _covers(entry, iri, parts)]
        private = [e for e in found if _is_private_name(urlsplit(e.rstrip("*")).hostname or "")]
        return next(iter(private or found), None)


ServicesLike: TypeAlias = Services | Iterable[str]
"""A `Services`, or only its list of IRIs."""

NO_SERVICES = Services()
"""Nothing is allowed."""


def services_of(given: ServicesLike | None, default: Services = NO_SERVICES) -> Services:
    """What a caller allows; the default if it says nothing.

    >>> services_of(["https://ex.org/sparql"]).allow
    ('https://ex.org/sparql',)
    """
    if given is None:
        return default
    return given if isinstance(given, Services) else Services(given)


def is_private(address: str) -> bool:
    """Whether an IP address is of this machine, of a private network, or for special use.

    >>> [is_private(one) for one in ("127.0.0.1", "::ffff:10.0.0.1", "169.254.169.254", "8.8.8.8")]
    [True, True, True, False]
    """
    import ipaddress  # late: few queries ask other endpoints

    found = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(found, ipaddress.IPv6Address):
        inside = found.ipv4_mapped or found.sixtofour
        if inside is None and found in ipaddress.ip_network(_NAT64):
            inside = ipaddress.IPv4Address(int(found) & 0xFFFFFFFF)
        if found.teredo is not None:
            inside = found.teredo[1]
        if inside is not None:
            return is_private(str(inside))
    return not found.is_global or found.is_multicast


_NAT64 = "64:ff9b::/96"


def _is_private_name(host: str) -> bool:
    """Whether a host is `localhost` or a private address, written as such."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return is_private(host)
    except ValueError:
        return False


def _split(iri: str) -> SplitResult | None:
    try:
        parts = urlsplit(iri)
        _ = parts.port  # raises if it is not a number
    except ValueError:
        return None
    return parts if parts.scheme else None


def _covers(entry: str, iri: str, parts: SplitResult) -> bool:
    """Whether an entry allows an IRI."""
    own = _split(entry.rstrip("*"))
    if own is None or own.scheme != parts.scheme:
        return False
    if own.scheme in _PORTS and own.netloc and _place(own) != _place(parts):
        return False
    if own.scheme in _PORTS and not own.netloc:
        return True  # `https:` allows everything over https
    beginning, whole = _behind(own), _behind(parts)
    if own.scheme not in _PORTS:
        beginning, whole = entry.rstrip("*").partition(":")[2], iri.partition(":")[2]
    if not whole.startswith(beginning):
        return False
    rest = whole[len(beginning) :]
    return (
        not rest
        or entry.endswith("*")
        or not beginning
        or beginning[-1] in _BOUNDARIES
        or rest[0] in "/?#"
    )


def _place(parts: SplitResult) -> tuple[str | None, int | None]:
    return parts.hostname, parts.port or _PORTS.get(parts.scheme)


def _behind(parts: SplitResult) -> str:
    """What stands behind the host."""
    text = parts.path + (f"?{parts.query}" if parts.query else "")
    return text + (f"#{parts.fragment}" if parts.fragment else "")
