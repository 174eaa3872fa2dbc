"""`serve`: the reference as a server, or a whole cluster of it."""

from __future__ import annotations

import argparse

from harness.cli import controlling
from harness.cli.output import complain
from harness.targets.builtin.target import reference_line
from reference_impl import serve


def run(options: argparse.Namespace) -> int:
    """Runs the command; returns the exit status."""
    match options.server:
        case "broker":
            return serve.run_broker(
                profile=reference_line("broker", options.profile),
                host=options.host,
                advertise=options.advertise,
                port=options.port,
                config_file=options.config,
                store=options.store,
                nameservers=options.nameserver,
                print_config=options.print_config,
            )
        case "cluster":
            profile = reference_line("broker", options.profile)
            try:
                beside = controlling.beside(options, profile)
            except serve.StartError as error:
                complain(f"cluster: {error}")
                return error.status
            return serve.run_cluster(
                profile=profile,
                size=serve.Size(
                    nameservers=options.nameservers, masters=options.masters, slaves=options.slaves
                ),
                host=options.host,
                advertise=options.advertise,
                port=options.port,
                broker_port=options.broker_port,
                config_file=options.config,
                store=options.store,
                beside=beside,
            )
    return serve.run(
        profile=reference_line("nameserver", options.profile),
        host=options.host,
        port=options.port,
        config_file=options.config,
        kv_file=options.kv_file,
        print_config=options.print_config,
    )
