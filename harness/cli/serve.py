"""`serve`: the reference as a server."""

from __future__ import annotations

import argparse

from reference_impl import serve


def run(options: argparse.Namespace) -> int:
    """Runs the command; returns the exit status."""
    return serve.run(
        profile=options.profile,
        host=options.host,
        port=options.port,
        config_file=options.config,
        kv_file=options.kv_file,
        print_config=options.print_config,
    )
