"""The reference on sockets: what runs its sans-IO servers, as processes or inside an event loop.

The only room of the reference that knows clocks, sockets and files. `shell.py` is what all servers share;
`nameserver.py`, `broker.py` and `cluster.py` say what each of them needs beside it.
"""

from .advancing import Pace
from .broker import broker_settings, run_broker, serve_broker
from .clock import Clock
from .cluster import Beside, Cluster, Size, begin_again, run_cluster, serve_cluster
from .nameserver import run, serve_nameserver
from .problems import EXIT_CONFIGURATION, EXIT_NOT_STARTED, StartError
from .server import Server

__all__ = [
    "EXIT_CONFIGURATION",
    "EXIT_NOT_STARTED",
    "Beside",
    "Clock",
    "Cluster",
    "Pace",
    "Server",
    "Size",
    "StartError",
    "begin_again",
    "broker_settings",
    "run",
    "run_broker",
    "run_cluster",
    "serve_broker",
    "serve_cluster",
    "serve_nameserver",
]
