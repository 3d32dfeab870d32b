"""Programs as text, in a subset of RDFox's Datalog: `read` and `write`.

    @prefix ex: <http://example.org/> .
    ex:ancestor[?x, ?z] :- ex:ancestor[?x, ?y], ex:parent[?y, ?z] .
    ex:Lonely[?x] :- ex:Person[?x], NOT ex:knows[?x, ?y] .
    ex:size[?g, ?n] :- AGGREGATE(ex:member[?g, ?x] ON ?g BIND count(?x) AS ?n) .
    constraint "no-loop" "a person is their own ancestor" :- ex:ancestor[?x, ?x] .

`program_parser` has the grammar. Always true: `read(write(program)) == program`.
"""

from triplestore.datalog.program import WELL_KNOWN
from triplestore.datalog.text.program_parser import parse, read
from triplestore.datalog.text.program_printer import show, write

__all__ = ["WELL_KNOWN", "parse", "read", "show", "write"]
