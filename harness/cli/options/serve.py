"""Options of `serve`."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from harness.catalogue import Role
from harness.cli.options.shared import either, lines
from harness.cli.options.values import Collected, amount, host_names, port
from harness.cli.parser import Parser


def add(parser: argparse.ArgumentParser) -> None:
    """Three servers, each with options of its own."""
    servers = parser.add_subparsers(
        dest="server", required=True, metavar="SERVER", parser_class=Parser, title="servers"
    )
    _nameserver(_server(servers, "nameserver", "a NameServer", "nameserver"))
    _broker(_server(servers, "broker", "a Broker", "broker"))
    _cluster(_server(servers, "cluster", "NameServers, masters and slaves in one process", "broker"))


def _server(servers: Any, name: str, what: str, role: Role) -> Parser:
    parser: Parser = servers.add_parser(name, help=what, description=f"Serve {what}.")
    parser.set_defaults(parser=parser)
    known = lines(role)
    parser.add_argument(
        "--profile",
        metavar="P",
        default=known[-1],
        choices=known,
        help=f"{either(known)} ({known[-1]})",
    )
    return parser


def _host(parser: Parser) -> None:
    parser.add_argument(
        "--host",
        metavar="HOST",
        help="address to listen on, 0.0.0.0 for all (bindAddress of the file, or 127.0.0.1)",
    )


def _advertise(parser: Parser) -> None:
    parser.add_argument(
        "--advertise",
        metavar="IP",
        help="IP address that clients are given, of a container or a machine that is reached from outside "
        "(brokerIP1 of the file, or the address to listen on)",
    )


def _configured(parser: Parser, what: str) -> None:
    parser.add_argument("-c", "--config", "--configFile", type=Path, metavar="FILE", help=what)
    parser.add_argument(
        "-p", "--print-config", "--printConfigItem", action="store_true", help="print the settings and exit"
    )


def _nameserver(parser: Parser) -> None:
    _host(parser)
    parser.add_argument("--port", type=port, metavar="N", help="port to listen on, 0 for any free one (9876)")
    _configured(parser, "a .properties file with Apache's names; code 318 writes it")
    parser.add_argument("--kv-file", type=Path, metavar="FILE", help="file for the KV configuration")
    parser.add_argument(
        "-n",
        "--namesrvAddr",
        metavar="ADDRESS",
        help="accepted for compatibility with Apache's server; has no effect",
    )


def _broker(parser: Parser) -> None:
    _host(parser)
    _advertise(parser)
    parser.add_argument(
        "--port", type=port, metavar="N", help="port to listen on, as well as N-2; 0 for free ones (10911)"
    )
    _configured(parser, "a .properties file with Apache's names")
    parser.add_argument("--store", type=Path, metavar="DIR", help="directory for messages (in memory)")
    parser.add_argument(
        "-n", "--nameserver", "--namesrvAddr", metavar="ADDRESSES", help="NameServers: host:port;host:port"
    )


def _cluster(parser: Parser) -> None:
    for name, default, what in (
        ("nameservers", 1, "NameServers"),
        ("masters", 1, "masters"),
        ("slaves", 0, "slaves of each master"),
    ):
        parser.add_argument(
            f"--{name}", type=amount, default=default, metavar="N", help=f"how many {what} ({default})"
        )
    _host(parser)
    _advertise(parser)
    parser.add_argument(
        "--port",
        type=port,
        default=9876,
        metavar="N",
        help="port of the first NameServer, 0 for any free one (9876); all others take free ones",
    )
    parser.add_argument(
        "--broker-port",
        type=port,
        metavar="N",
        help="port of the first Broker, as well as N-2 (listenPort of the file, or any free one)",
    )
    parser.add_argument(
        "-c",
        "--config",
        type=Path,
        metavar="FILE",
        help="a .properties file with settings of the Brokers, under Apache's names",
    )
    parser.add_argument("--store", type=Path, metavar="DIR", help="directory for all data (in memory)")
    control = parser.add_argument_group(
        "control port", "what tests in any language ask of the cluster and do to it, over HTTP with JSON"
    )
    control.add_argument(
        "--control", type=port, metavar="PORT", help="serve it at that port, 0 for any free one"
    )
    control.add_argument(
        "--control-host",
        metavar="IP",
        help="address to listen on, 0.0.0.0 for all; who reaches it rules the cluster (127.0.0.1)",
    )
    control.add_argument(
        "--control-name",
        dest="control_names",
        action=Collected,
        type=host_names,
        default=(),
        metavar="NAME",
        help="a name, beside localhost and addresses, by which others reach it, such as that of a container",
    )
