"""What can be typed. Every mistake ends in `Usage`, which says what was expected and what was nearest."""

from __future__ import annotations

import argparse
import importlib
from collections.abc import Callable, Iterable, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Literal, NoReturn

AGAIN = ("console", "html", "json", "junit", "markdown", "badge")  # reports that can be made from a record
REPORTS = (*AGAIN, "allure")
LEVELS = ("must", "should", "may")
ROLES = ("nameserver", "broker")
_MOST = 10**9
TARGETS = (
    "builtin:[PROFILE]  tcp://HOST:PORT  exec:COMMAND (with {port} and {dir})  apache:VERSION[?warp=60]  "
    "docker:IMAGE[?warp=60]"
)


class Usage(Exception):  # noqa: N818 - said to people, not raised as a fault
    """A mistake on the command line. The text is complete."""


class _Parser(argparse.ArgumentParser):
    """Reports mistakes by `Usage`, with hints. Abbreviations are refused: a new option would break them."""

    def __init__(self, **kwargs: Any) -> None:
        kwargs["allow_abbrev"] = False
        super().__init__(**kwargs)

    def error(self, message: str) -> NoReturn:
        raise Usage(f"{self.prog}: {message}\n\n{self.format_usage()}\n{self.prog} --help says more.")

    def unknown(self, words: Sequence[str]) -> NoReturn:
        """Refuses words that no option and no argument took."""
        options = [name for name in self._option_string_actions if name.startswith("--")]
        parts = []
        for word in words:
            kind = "option" if word.startswith("-") else "argument"
            parts.append(f"unknown {kind} {word}{meant(word.split('=')[0], options)}")
        self.error("; ".join(parts))


def meant(word: str, known: Iterable[str]) -> str:
    """`, did you mean --profile?`, or nothing."""
    close = get_close_matches(word, list(known), n=2, cutoff=0.6)
    return f", did you mean {' or '.join(close)}?" if close else ""


def listed(known: tuple[str, ...], what: str) -> Callable[[str], tuple[str, ...]]:
    """A converter of `a,b,c` that knows each word."""

    def convert(text: str) -> tuple[str, ...]:
        words = tuple(word.strip() for word in text.split(",") if word.strip())
        for word in words:
            if word not in known:
                raise argparse.ArgumentTypeError(
                    f"unknown {what} {word!r}{meant(word, known)}; expected some of {','.join(known)}"
                )
        if not words:
            raise argparse.ArgumentTypeError(f"expected some of {','.join(known)}")
        return words

    return convert


def _words(text: str) -> tuple[str, ...]:
    words = tuple(word.strip() for word in text.split(",") if word.strip())
    if not words:
        # An unset variable of a script must not select everything.
        raise argparse.ArgumentTypeError("expected an id, a prefix, a chapter, a glob or tag:…, got nothing")
    return words


def _seconds(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < 1e6:
        raise argparse.ArgumentTypeError(f"expected seconds, such as 30, got {text!r}")
    return value


def _duration(text: str) -> float:
    unit = {"s": 1, "m": 60, "h": 3600}.get(text[-1:], 0)
    return _seconds(text) if not unit else unit * _seconds(text[:-1])


def _count(text: str) -> int:
    if not text.isascii() or not text.isdigit() or not 1 <= int(text) <= _MOST:
        raise argparse.ArgumentTypeError(f"expected a whole number from 1 to {_MOST}, got {text!r}")
    return int(text)


def _workers(text: str) -> int:
    import os

    if text == "auto":
        return os.cpu_count() or 1
    if not text.isascii() or not text.isdigit() or not 1 <= int(text) <= 256:
        raise argparse.ArgumentTypeError(f"expected a number of processes from 1 on, or auto, got {text!r}")
    return int(text)


def _port(text: str) -> int:
    if not text.isascii() or not text.isdigit() or int(text) > 65535:
        raise argparse.ArgumentTypeError(f"expected a port from 0 (any free one) to 65535, got {text!r}")
    return int(text)


def _address(text: str) -> tuple[str, int]:
    host, _, port = text.rpartition(":")
    try:
        return host.strip("[]") or "127.0.0.1", _port(port)
    except argparse.ArgumentTypeError:
        raise argparse.ArgumentTypeError(f"expected HOST:PORT or PORT, got {text!r}") from None


class _Command:
    """Adds one command; its module is imported when it is used."""

    def __init__(self, commands: Any, name: str, summary: str, description: str = "") -> None:
        self.parser: _Parser = commands.add_parser(
            name, help=summary, description=description or f"{summary[0].upper()}{summary[1:]}."
        )
        self.parser.set_defaults(run=self._run(name), parser=self.parser)

    @staticmethod
    def _run(name: str) -> Callable[[argparse.Namespace], int]:
        def run(options: argparse.Namespace) -> int:
            module = importlib.import_module(f"harness.cli.{name}")
            status: int = module.run(options)
            return status

        return run

    def json(self) -> None:
        self.parser.add_argument(
            "--json", action="store_true", help="print one result object on standard output"
        )

    def role(self) -> None:
        self.parser.add_argument(
            "--role",
            choices=ROLES,
            default="nameserver",
            help="what the target is: nameserver (default), broker",
        )

    def quirks(self) -> None:
        """Adds `--quirks`."""
        self.parser.add_argument(
            "--quirks",
            metavar="NAME@VERSION",
            default="",
            help="judge it as this known server, whose defects are quirks (apache-nameserver@5.3.3), or none",
        )

    def nameserver(self) -> None:
        self.parser.add_argument(
            "--nameserver",
            metavar="HOST:PORT",
            default="",
            help="of a Broker that runs already (tcp://): where it looks for a NameServer, to be ours",
        )

    def selection(self) -> None:
        self.parser.add_argument(
            "--profile", metavar="P", default="", help=f"which statements apply: {_either(_lines())}"
        )
        for option, words in (("--select", "only these"), ("--exclude", "not these")):
            self.parser.add_argument(
                option,
                metavar="ID",
                type=_words,
                action="extend",
                default=[],
                help=f"{words}: ids, prefixes, chapters, globs, tag:… or cases (repeat it, or use commas)",
            )
        self.parser.add_argument(
            "--level", choices=LEVELS, help="only statements of this level and stricter ones"
        )


def build_parser() -> _Parser:
    """The parser of everything."""
    from harness.version import version

    parser = _Strict(
        prog="rmq-harness",
        description="A conformance and test harness for Apache RocketMQ's remoting protocol.",
        epilog="exit status: 0 conformant, 1 not conformant, 2 inconclusive, 3 usage, "
        "4 target or harness failed, 130 interrupted",
    )
    parser.add_argument("--version", action="version", version=f"rmq-harness {version()}")
    commands = parser.add_subparsers(
        title="commands", metavar="COMMAND", dest="command", required=True, parser_class=_Parser
    )
    _add_check(_Command(commands, "check", "judge a target by the catalogue"))
    _add_diff(_Command(commands, "diff", "the same random operations on two targets, compared"))
    _add_replay(_Command(commands, "replay", "a recorded trace on any target, the old answer beside the new"))
    _add_fuzz(_Command(commands, "fuzz", "random programs; what fails is made small and kept"))
    _add_campaign(
        _Command(commands, "campaign", "play very many runs on Spark; keep them as Parquet for mine")
    )
    _add_mine(
        _Command(commands, "mine", "find what recorded runs have in common, on Spark: tables and a page")
    )
    _add_selftest(_Command(commands, "selftest", "run the cases against every mutant of the reference"))
    _add_explain(_Command(commands, "explain", "say where a statement comes from and what proves it"))
    _add_serve(_Command(commands, "serve", "run the reference as a server"))
    _add_report(_Command(commands, "report", "write the reports of a recorded run again"))
    _add_decode(_Command(commands, "decode", "take frames and captures apart"))
    _add_record(_Command(commands, "record", "forward connections to a server and write down everything"))
    _add_docs(_Command(commands, "docs", "render the catalogue to specs/rendered"))
    return parser


class _Strict(_Parser):
    """The whole: refuses what is left over in the words of the command that did not take it."""

    def parse_args(self, args: Any = None, namespace: Any = None) -> Any:
        options, rest = self.parse_known_args(args, namespace)
        if rest:
            getattr(options, "parser", self).unknown(rest)
        return options

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is not None and value not in action.choices:
            names = list(action.choices)
            hint = meant(str(value), names)
            self.error(f"unknown command {value!r}{hint}; expected {', '.join(names)}")


def _add_check(command: _Command) -> None:
    parser = command.parser
    parser.add_argument(
        "target", nargs="?", default="builtin:", metavar="TARGET", help=f"default builtin:; {TARGETS}"
    )
    command.role()
    command.nameserver()
    command.selection()
    parser.add_argument(
        "--strict", action="store_true", help="a broken SHOULD fails the run, and so does a quirk not seen"
    )
    parser.add_argument(
        "--baseline", type=Path, metavar="FILE", help="failures that are known, with reason, link and expiry"
    )
    parser.add_argument(
        "--write-baseline", type=Path, metavar="FILE", help="write what fails as a baseline, to be completed"
    )
    command.quirks()
    parser.add_argument(
        "--report",
        type=listed(REPORTS, "report"),
        default=(),
        metavar="LIST",
        help=f"reports to write to --out besides the record: {','.join(REPORTS[1:])}",
    )
    parser.add_argument(
        "--out", type=Path, default=Path("out"), metavar="DIR", help="where everything goes (out)"
    )
    parser.add_argument(
        "-n", type=_workers, default=1, metavar="N", dest="workers", help="processes, or auto"
    )
    parser.add_argument(
        "--deadline", type=_seconds, default=30.0, metavar="S", help="real seconds for a case (30)"
    )
    parser.add_argument(
        "--list", action="store_true", dest="listing", help="print the cases instead of running them"
    )
    command.json()


def _add_diff(command: _Command) -> None:
    parser = command.parser
    parser.add_argument("a", metavar="TARGET_A", help=TARGETS)
    parser.add_argument("b", metavar="TARGET_B", help="what it is compared with")
    parser.add_argument(
        "--profile", metavar="P", default="", help="whose rules the operations follow (that of the targets)"
    )
    command.quirks()
    parser.add_argument("--steps", type=_count, default=10_000, metavar="N", help="operations in all (10000)")
    parser.add_argument("--seed", metavar="S", help="what decides the operations (a new one, printed)")
    parser.add_argument("--max-time", type=_duration, metavar="T", help="real time at most: 90, 90s, 10m, 2h")
    parser.add_argument("--out", type=Path, metavar="DIR", help="where journal and findings go (nowhere)")
    parser.add_argument("--resume", action="store_true", help="go on with the run in --out, of this --seed")
    parser.add_argument("--program", type=Path, metavar="FILE", help="play this program, once, instead")
    command.json()


def _add_replay(command: _Command) -> None:
    parser = command.parser
    parser.add_argument(
        "trace",
        type=Path,
        metavar="TRACE",
        help="a trace, or the folder of a finding, that was written to --out",
    )
    parser.add_argument(
        "target",
        nargs="*",
        metavar="TARGET",
        help=f"the one that it was recorded on; one for each of several NameServers; {TARGETS}",
    )
    command.nameserver()
    parser.add_argument("--all", action="store_true", help="print keep-alives and probes too")
    command.json()


def _add_fuzz(command: _Command) -> None:
    parser = command.parser
    parser.add_argument(
        "target", nargs="?", default="builtin:", metavar="TARGET", help=f"default builtin:; {TARGETS}"
    )
    command.role()
    command.nameserver()
    parser.add_argument("--profile", metavar="P", default="", help="whose rules hold (that of the target)")
    command.quirks()
    parser.add_argument(
        "--kind", metavar="KIND", default="all", help="stateful, frames, history, or all (all)"
    )
    parser.add_argument("--seed", metavar="S", help="what decides the programs (a new one, printed)")
    parser.add_argument("--max-time", type=_duration, metavar="T", help="real time at most: 90, 90s, 10m, 2h")
    parser.add_argument("--max-examples", type=_count, metavar="N", help="programs at most")
    parser.add_argument(
        "--out", type=Path, default=Path("out/fuzz"), metavar="DIR", help="where findings go (out/fuzz)"
    )
    parser.add_argument("--resume", action="store_true", help="go on with the run in --out, of this --seed")
    parser.add_argument(
        "--corpus", type=Path, metavar="DIR", help="frames: where programs grow from run to run (OUT/corpus)"
    )
    parser.add_argument("--strict", action="store_true", help="frames: what a SHOULD forbids fails too")
    parser.add_argument(
        "--memory",
        type=_count,
        default=1024,
        metavar="MIB",
        help="frames: what a target that is started here may have resident (1024)",
    )
    parser.add_argument(
        "--allow-remote", action="store_true", help="also where the target is not on this machine"
    )
    parser.add_argument(
        "--attempts", type=_count, default=400, metavar="N", help="to make a finding small (400)"
    )
    parser.add_argument(
        "--shrink-time", type=_duration, default=60.0, metavar="T", help="the same, in real time (60s)"
    )
    command.json()


def _add_campaign(command: _Command) -> None:
    parser = command.parser
    parser.add_argument(
        "target", nargs="*", metavar="TARGET", help=f"one or several; default builtin:; {TARGETS}"
    )
    parser.add_argument("--runs", type=_count, metavar="N", help="runs of each kind, for each target")
    parser.add_argument(
        "--seed", type=int, default=1, metavar="S", help="seed of the first run; seeds count up (1)"
    )
    parser.add_argument(
        "--out", default="out/campaign", metavar="DIR", help="directory or URL of the data set (out/campaign)"
    )
    parser.add_argument("--name", metavar="NAME", help="name of the campaign in the data set (seed-S)")
    parser.add_argument(
        "--kind",
        type=listed(("stateful", "frames", "history"), "kind"),
        default=("stateful",),
        metavar="LIST",
        help="stateful, frames, history (stateful)",
    )
    parser.add_argument("--profile", metavar="P", default="", help="whose rules hold (those of each target)")
    command.quirks()
    parser.add_argument(
        "--mutant",
        type=_words,
        action="extend",
        default=[],
        metavar="NAME",
        help="also this mutant of the reference (repeat it, or use commas)",
    )
    parser.add_argument(
        "--from",
        dest="recorded",
        action="extend",
        nargs="+",
        default=[],
        type=Path,
        metavar="DIR",
        help="add the records of check, fuzz or diff (their --out) to the data set, and play nothing",
    )
    parser.add_argument("--max-time", type=_duration, metavar="T", help="real time at most: 90, 90s, 10m, 2h")
    parser.add_argument(
        "--deadline",
        type=_duration,
        default=120.0,
        metavar="T",
        help="limit of a run, without its own waits (120s)",
    )
    parser.add_argument(
        "--chunk", type=_count, metavar="N", help="runs per file (1000; 100 for started targets)"
    )
    parser.add_argument(
        "--shrink",
        type=int,
        default=2,
        metavar="N",
        help="failures of a signature in a chunk to minimise (2)",
    )
    parser.add_argument(
        "--attempts", type=_count, default=200, metavar="N", help="limit for minimising one (200)"
    )
    parser.add_argument(
        "--sample",
        type=int,
        default=500,
        metavar="N",
        help="keep the trace of one in N passing runs; 0: none (500)",
    )
    parser.add_argument("--allow-remote", action="store_true", help="allow targets on other machines")
    _add_spark(parser)
    command.json()


def _add_mine(command: _Command) -> None:
    parser = command.parser
    parser.add_argument(
        "root", metavar="DIR", help="directory or URL of the data set: the --out of a campaign"
    )
    parser.add_argument("--against", metavar="DIR", help="an earlier data set to compare with")
    parser.add_argument(
        "--out", default="out/mine", metavar="DIR", help="where report.html and tables/ go (out/mine)"
    )
    parser.add_argument(
        "--fail-on",
        type=listed(("findings", "worse"), "reason"),
        default=(),
        metavar="LIST",
        help="exit with 1 if there are findings, or if something got worse (default: 0)",
    )
    _add_spark(parser)
    command.json()


def _add_spark(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--master", metavar="M", help="Spark's master (Spark's own setting, else local[*,4])")
    parser.add_argument("--memory", default="2g", metavar="M", help="memory of Spark's driver (2g)")


def _add_selftest(command: _Command) -> None:
    parser = command.parser
    command.role()
    command.selection()
    parser.add_argument(
        "--mutant", action="append", default=[], metavar="NAME", help="only this one (repeat it)"
    )
    parser.add_argument(
        "--full",
        action="store_true",
        help="every case against every mutant, not only where the case says that it kills the mutant",
    )
    parser.add_argument(
        "--out", type=Path, default=Path("out"), metavar="DIR", help="where the matrix goes (out)"
    )
    parser.add_argument(
        "-n", type=_workers, default=2, metavar="N", dest="workers", help="processes (2), or auto"
    )
    command.json()


def _add_explain(command: _Command) -> None:
    command.parser.add_argument(
        "id", metavar="ID", help="a statement, a case, a quirk, a mutant or a bug report"
    )
    command.json()


def _add_serve(command: _Command) -> None:
    servers = command.parser.add_subparsers(
        dest="server", required=True, metavar="SERVER", parser_class=_Parser, title="servers"
    )
    _add_serve_nameserver(_server(servers, "nameserver", "a NameServer", "nameserver"))
    _add_serve_broker(_server(servers, "broker", "a Broker", "broker"))
    _add_serve_cluster(
        _server(servers, "cluster", "NameServers, masters and slaves in one process", "broker")
    )


def _lines(role: Literal["nameserver", "broker"] = "nameserver") -> list[str]:
    from harness.catalogue import profiles

    return [profile.name for profile in profiles(role)]


def _either(names: Sequence[str]) -> str:
    *others, last = names
    return f"{', '.join(others)} or {last}" if others else last


def _server(servers: Any, name: str, what: str, role: Literal["nameserver", "broker"]) -> _Parser:
    parser: _Parser = servers.add_parser(name, help=what, description=f"Serve {what}.")
    parser.set_defaults(parser=parser)
    lines = _lines(role)
    parser.add_argument(
        "--profile",
        metavar="P",
        default=lines[-1],
        choices=lines,
        help=f"{_either(lines)} ({lines[-1]})",
    )
    return parser


def _configured(parser: _Parser, what: str) -> None:
    parser.add_argument("-c", "--config", "--configFile", type=Path, metavar="FILE", help=what)
    parser.add_argument(
        "-p", "--print-config", "--printConfigItem", action="store_true", help="print the settings and end"
    )


def _add_serve_nameserver(parser: _Parser) -> None:
    parser.add_argument("--host", metavar="HOST", help="address to listen on (all)")
    parser.add_argument(
        "--port", type=_port, metavar="N", help="port to listen on, 0 for any free one (9876)"
    )
    _configured(parser, "a .properties file with Apache's names; code 318 writes it")
    parser.add_argument("--kv-file", type=Path, metavar="FILE", help="where the KV configuration is kept")
    parser.add_argument(
        "-n", "--namesrvAddr", metavar="ADDRESS", help="accepted, as Apache's server does; does nothing"
    )


def _add_serve_broker(parser: _Parser) -> None:
    parser.add_argument("--host", metavar="HOST", help="address to listen on (all)")
    parser.add_argument(
        "--port", type=_port, metavar="N", help="port to listen on, and N-2 too; 0 for free ones (10911)"
    )
    _configured(parser, "a .properties file with Apache's names")
    parser.add_argument("--store", type=Path, metavar="DIR", help="where messages are kept (in memory)")
    parser.add_argument(
        "-n", "--nameserver", "--namesrvAddr", metavar="ADDRESSES", help="NameServers: host:port;host:port"
    )


def _add_serve_cluster(parser: _Parser) -> None:
    for name, default, what in (
        ("nameservers", 1, "NameServers"),
        ("masters", 1, "masters"),
        ("slaves", 0, "slaves of each master"),
    ):
        parser.add_argument(
            f"--{name}", type=int, default=default, metavar="N", help=f"how many {what} ({default})"
        )
    parser.add_argument(
        "--host", default="127.0.0.1", metavar="HOST", help="address to listen on (127.0.0.1)"
    )
    parser.add_argument(
        "--port",
        type=_port,
        default=9876,
        metavar="N",
        help="port of the first NameServer, 0 for any free one (9876); all others take free ones",
    )
    parser.add_argument("-c", "--config", type=Path, metavar="FILE", help="settings of the Brokers")
    parser.add_argument("--store", type=Path, metavar="DIR", help="where everything is kept (in memory)")


def _add_report(command: _Command) -> None:
    parser = command.parser
    parser.add_argument("run_dir", type=Path, metavar="RUN_DIR", help="the --out directory of a run")
    parser.add_argument(
        "--format",
        type=listed(AGAIN, "report"),
        default=("console",),
        metavar="LIST",
        help=f"some of {','.join(AGAIN)} (console); files are written to RUN_DIR",
    )
    command.json()


def _add_decode(command: _Command) -> None:
    command.parser.add_argument(
        "frames",
        metavar="HEX|FILE",
        help="hexadecimal digits; a file with frames (raw or hexadecimal), or -; a capture (pcap, pcapng), a "
        "trace, the folder of a finding",
    )
    command.parser.add_argument(
        "--port",
        type=_port,
        metavar="N",
        help="in a capture, the connections to this port, whatever is on them (those that hold a frame)",
    )
    command.parser.add_argument(
        "--keylog",
        type=Path,
        metavar="FILE",
        help="secrets of TLS connections of a capture, as SSLKEYLOGFILE has them (TLS 1.2 and 1.3)",
    )
    command.parser.add_argument(
        "--json",
        action="store_true",
        help="print one object on standard output; of a capture or a trace one for each command, and totals",
    )


def _add_record(command: _Command) -> None:
    parser = command.parser
    parser.add_argument(
        "listen", metavar="LISTEN", type=_address, help="HOST:PORT or PORT, 0 for any free one"
    )
    parser.add_argument("upstream", metavar="UPSTREAM", type=_address, help="HOST:PORT of the server")
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="where trace and capture go")
    parser.add_argument("--max-time", type=_duration, metavar="T", help="end after 90, 90s, 10m, 2h")
    command.json()


def _add_docs(command: _Command) -> None:
    command.parser.add_argument("--check", action="store_true", help="only say whether they are up to date")
