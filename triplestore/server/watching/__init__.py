"""How the server is doing: health, metrics, the access log and spans."""
