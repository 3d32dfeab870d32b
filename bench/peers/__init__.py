"""The systems that are measured side by side: ours, pyoxigraph, rdflib.

Each adapter gives the same few verbs, in the way its own documentation says is the fast one. It
imports its library only when it is opened, because adapters are listed in the parent process, whose
memory must stay small (see harness.py).
"""

from __future__ import annotations

from bench.peers.base import Handle, Lookup, Peer
from bench.peers.ours import OurPeer
from bench.peers.oxigraph import Oxigraph
from bench.peers.rdflib_graph import RdflibGraph

PEERS: dict[str, Peer] = {peer.name: peer for peer in (OurPeer(), Oxigraph(), RdflibGraph())}

__all__ = ["PEERS", "Handle", "Lookup", "Peer"]
