"""The tools that an agent calls: their names, arguments and descriptions.

Start at `AgentTools`. Descriptions are read by models: they say when to call a tool, and what to
write. Each call runs in a thread, within limits; if the client gives up, the call is stopped.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Literal

import anyio
import anyio.to_thread
from mcp.types import CallToolResult, ToolAnnotations
from pydantic import Field

from triplestore.errors import TripleStoreError
from triplestore.mcp_server.change_tools import answer_preview, answer_update
from triplestore.mcp_server.overview_tools import answer_description, answer_search
from triplestore.mcp_server.problems import problem_answer
from triplestore.mcp_server.query_tool import answer_query
from triplestore.mcp_server.reasoning_tools import answer_violations, answer_why, answer_why_not

if TYPE_CHECKING:
    from mcp.server.mcpserver import MCPServer

    from triplestore.mcp_server.answers import Answer
    from triplestore.mcp_server.session import AgentSession

Work = Callable[[threading.Event], "Answer"]

AT_ONCE = 2
"""Maximum number of calls that run at the same time; others wait."""

Seconds = Annotated[
    float | None, Field(description="Time limit in seconds; by default that of the server.")
]
Fact = Annotated[
    str,
    Field(
        description="A triple as in Turtle, such as `ex:ada a ex:Person`; or a fact of rules, such "
        "as `ex:flight[ex:a, ex:b, 3]`."
    ),
]
UpdateText = Annotated[
    str,
    Field(
        description="A SPARQL 1.1 update, such as `INSERT DATA { ex:ada a ex:Person }`. Prefixes "
        "that are shown need no declaration. Only asserted triples can be deleted."
    ),
]


class AgentTools:
    """The tools of one session."""

    def __init__(self, session: AgentSession) -> None:
        self._session = session
        self._places = anyio.CapacityLimiter(AT_ONCE)

    def register(self, server: MCPServer[Any]) -> None:
        """Add the tools to a server; `update` only where updates are allowed."""
        reads = ToolAnnotations(read_only_hint=True, open_world_hint=False)
        for tool, title in (
            (self.describe_store, "Describe the store"),
            (self.search_terms, "Search for terms"),
            (self.query, "SPARQL query"),
            (self.why, "Why does a triple hold?"),
            (self.why_not, "Why does a triple not hold?"),
            (self.preview_update, "Preview an update"),
            (self.violations, "Contradictions"),
        ):
            server.add_tool(tool, title=title, annotations=reads)
        if self._session.settings.update:
            writes = ToolAnnotations(
                read_only_hint=False, destructive_hint=True, open_world_hint=False
            )
            server.add_tool(self.update, title="Make an update", annotations=writes)

    # -- what there is ----------------------------------------------------------------------------

    async def describe_store(
        self,
        about: Annotated[
            list[str] | None,
            Field(description="Describe only these classes and properties, such as [`ex:Person`]."),
        ] = None,
        classes: Annotated[int, Field(ge=0, description="Maximum number of classes.")] = 30,
        properties: Annotated[int, Field(ge=0, description="Maximum number of properties.")] = 40,
    ) -> CallToolResult:
        """What is in the store. Call this first.

        Lists prefixes, named graphs, classes and properties, those with most members or triples
        first: how many are asserted and inferred, labels, which properties the members of a class
        have and what their values are. In `ex:worksFor 80% → ex:Company`, 80 percent of the members
        have the property.
        """
        work = partial(answer_description, about=about, classes=classes, properties=properties)
        return await self._read(work)

    async def search_terms(
        self,
        text: Annotated[
            str,
            Field(
                description="Words, or beginnings of words, of a label or a name; or an IRI or a "
                "prefixed name and what it begins. Empty: what is used most."
            ),
        ],
        kind: Annotated[
            Literal["any", "class", "property", "individual", "concept"],
            Field(description="What to search for; `concept` is a SKOS concept."),
        ] = "any",
        limit: Annotated[int, Field(ge=1, le=200, description="Maximum number of results.")] = 20,
    ) -> CallToolResult:
        """Find the IRI of something by its name. Use it before a query: do not guess IRIs.

        Searches labels and the last parts of IRIs. Best matches come first.
        """
        return await self._read(partial(answer_search, text=text, kind=kind, limit=limit))

    async def query(
        self,
        query: Annotated[
            str,
            Field(
                description="A SPARQL 1.1 query: SELECT, ASK, CONSTRUCT or DESCRIBE. The prefixes "
                "that describe_store and search_terms show need no declaration."
            ),
        ],
        limit: Annotated[int, Field(ge=1, description="Maximum number of rows shown.")] = 50,
        offset: Annotated[int, Field(ge=0, description="Number of rows to skip.")] = 0,
        facts: Annotated[
            Literal["all", "asserted", "inferred"],
            Field(description="Which triples the query sees."),
        ] = "all",
        timeout: Seconds = None,
    ) -> CallToolResult:
        """Ask a SPARQL query. Inferred triples are seen like asserted ones.

        Prefer to count, group and order in the query instead of reading many rows. An empty answer
        comes with hints if a property or class has no triples.
        """
        work = partial(
            answer_query, query=query, limit=limit, offset=offset, facts=facts, timeout=timeout
        )
        return await self._read(work, query, with_cancel=True)

    # -- reasons ----------------------------------------------------------------------------------

    async def why(self, fact: Fact, timeout: Seconds = 5.0) -> CallToolResult:
        """Why a triple holds: the smallest proof from asserted triples, with the rules used."""
        return await self._read(partial(answer_why, fact=fact, seconds=timeout or 5.0))

    async def why_not(self, fact: Fact, timeout: Seconds = 5.0) -> CallToolResult:
        """Why a triple does not hold: what is missing for each rule that could conclude it."""
        return await self._read(partial(answer_why_not, fact=fact, seconds=timeout or 5.0))

    async def violations(
        self,
        limit: Annotated[int, Field(ge=1, description="Maximum number of violations.")] = 20,
        offset: Annotated[int, Field(ge=0, description="Number of violations to skip.")] = 0,
        explain: Annotated[
            int | None, Field(description="Show the proof of the violation with this number.")
        ] = None,
        timeout: Seconds = 5.0,
    ) -> CallToolResult:
        """What contradicts in the store: violations of constraints and of the ontology."""
        work = partial(
            answer_violations, limit=limit, offset=offset, explain=explain, seconds=timeout or 5.0
        )
        return await self._read(work)

    # -- changes ----------------------------------------------------------------------------------

    async def preview_update(self, update: UpdateText, timeout: Seconds = None) -> CallToolResult:
        """What an update would do, before anything is written. Call it before `update`.

        Shows what would be asserted and removed, what would be inferred or no longer be, new and
        resolved contradictions, and proofs of them.
        """
        return await self._change(partial(answer_preview, update=update, timeout=timeout), update)

    async def update(
        self,
        update: UpdateText,
        expected_commit: Annotated[
            int | None,
            Field(
                description="The commit that preview_update gave: if the store has changed since, "
                "nothing is written."
            ),
        ] = None,
        timeout: Seconds = None,
    ) -> CallToolResult:
        """Change the store. Call preview_update with the same text first, and look at it."""
        work = partial(
            answer_update, update=update, expected_commit=expected_commit, timeout=timeout
        )
        return await self._change(work, update)

    # -- how --------------------------------------------------------------------------------------

    async def _read(
        self, work: Callable[..., Answer], source: str = "", with_cancel: bool = False
    ) -> CallToolResult:
        def read(cancel: threading.Event) -> Answer:
            with self._session.limited(cancel):
                reading = self._session.reading()
                given = (cancel,) if with_cancel else ()
                return work(self._session, reading, *given)

        return await self._run(read, source)

    async def _change(self, work: Callable[..., Answer], source: str) -> CallToolResult:
        return await self._run(partial(work, self._session), source)

    async def _run(self, work: Work, source: str) -> CallToolResult:
        cancel = threading.Event()
        try:
            answer = await anyio.to_thread.run_sync(
                partial(self._answer, work, cancel, source),
                abandon_on_cancel=True,
                limiter=self._places,
            )
        except BaseException:
            cancel.set()
            raise
        return answer.result()

    def _answer(self, work: Work, cancel: threading.Event, source: str) -> Answer:
        try:
            return work(cancel)
        except TripleStoreError as error:
            return problem_answer(error, self._session.names(), source)
