"""Connections and what passes over them: names of hosts, slow clients, headers, compression."""
