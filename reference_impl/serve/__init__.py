"""The reference on sockets: what runs its sans-IO servers, as processes or inside an event loop.

The only room of the reference that knows clocks, sockets and files. `shell.py` is what all servers share;
`nameserver.py` says what each of them needs beside it.
"""

from .nameserver import run, serve_nameserver
from .problems import EXIT_CONFIGURATION, EXIT_NOT_STARTED, StartError

__all__ = ["EXIT_CONFIGURATION", "EXIT_NOT_STARTED", "StartError", "run", "serve_nameserver"]
