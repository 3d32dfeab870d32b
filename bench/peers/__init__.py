"""The systems that are measured side by side: ours, pyoxigraph, rdflib.

All adapters have the same few methods, each in the fastest way of the peer's documentation. An
adapter imports its library when it is opened, because adapters are listed in the parent process,
whose memory must stay small (see harness.py).
"""

from __future__ import annotations

from bench.peers.base import Handle, Lookup, Peer
from bench.peers.ours import OurPeer
from bench.peers.oxigraph import Oxigraph
from bench.peers.rdflib_graph import RdflibGraph

PEERS: dict[str, Peer] = {peer.name: peer for peer in (OurPeer(), Oxigraph(), RdflibGraph())}

__all__ = ["PEERS", "Handle", "Lookup", "Peer"]
