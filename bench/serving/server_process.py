"""A server in a process of its own: `python -m bench.serving.server_process PEER FOLDER`.

It prints its port when it listens, and ends when its standard input does.
"""

from __future__ import annotations

import sys
import threading
from pathlib import Path

import uvicorn

OURS = "triplestore"


def main(peer: str, folder: str) -> None:
    if peer == OURS:
        from triplestore import Store
        from triplestore.server import Settings
        from triplestore.server.serving import configured

        config = configured(Store.read_only(folder), Settings(per_client=0))
    else:
        from bench.serving.peer_app import peer_app

        config = uvicorn.Config(peer_app(Path(folder)), http="h11", log_level="warning")
    config.port = 0
    server = uvicorn.Server(config)

    def watch() -> None:
        while not server.started:
            threading.Event().wait(0.01)
        print(server.servers[0].sockets[0].getsockname()[1], flush=True)
        sys.stdin.read()
        server.should_exit = True

    threading.Thread(target=watch, daemon=True).start()
    server.run()


if __name__ == "__main__":
    main(*sys.argv[1:])
