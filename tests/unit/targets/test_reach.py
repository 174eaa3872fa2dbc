"""Whether a server is there."""

from __future__ import annotations

import socket
import threading

from harness.targets.reach import SILENT, takes_connections


def test_a_server_whose_queue_of_connections_is_full_for_a_moment_is_there() -> None:
    with socket.create_server(("127.0.0.1", 0), backlog=0) as listener:
        host, port = listener.getsockname()

        def accept() -> None:
            listener.accept()[0].close()

        with socket.create_connection((host, port)):  # the one that fits
            assert not takes_connections(host, port, 0.2)
            later = threading.Timer(0.5, accept)
            later.start()
            assert takes_connections(host, port, SILENT)
            later.join()


def test_a_server_that_has_ended_is_not_waited_for() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        host, port = listener.getsockname()
    assert not takes_connections(host, port, 3600.0)
