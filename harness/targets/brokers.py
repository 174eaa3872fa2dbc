"""Brokers as targets that are started by a command, or that somebody else runs.

Rules of this module: as for NameServers (``command``, ``remote``), with our NameServers beside them. Where
the Broker is somebody else's, so is its list of NameServers: the user says which of its addresses is to be
ours.
"""

from __future__ import annotations

import msgspec

from harness.session import DEFAULT_SETUP, ServedNameServer, Setup
from harness.targets.broker_process import PORTS, BrokerProcess, nameservers_in, with_nameservers
from harness.targets.command import ExecTarget
from harness.targets.errors import TargetError
from harness.targets.process import Command
from harness.targets.remote import RemoteInstance, TcpTarget

__all__ = ["ExecBrokerTarget", "RemoteBroker", "TcpBrokerTarget"]


class ExecBrokerTarget(ExecTarget):
    """``exec:COMMAND[?warp=N]``; as for a NameServer, and ``{nameserver}`` is the address of ours."""

    _example = "exec:'./my-broker --port {port} --namesrv {nameserver} --config {config}'"

    def __init__(self, uri: str, command: str, warp: float) -> None:
        super().__init__(uri, command, warp)
        if not any("{nameserver}" in word or "{config}" in word for word in self._words):
            raise TargetError(
                expected="{nameserver} in the command, in place of the NameServer to register with, "
                "or {config}, a .properties file that names it (namesrvAddr)",
                got=command,
                do=f"write for instance {self._example}",
            )

    def another(self, setup: Setup = DEFAULT_SETUP) -> BrokerProcess:
        self._check(setup)
        wanted = {"namesrvAddr": "{nameserver}", "storePathRootDir": "{dir}/store", **dict(setup)}

        def command(addresses: tuple[str, ...]) -> Command:
            told = {key: with_nameservers(value, addresses) for key, value in wanted.items()}
            known = {"{nameserver}": told["namesrvAddr"]}
            return msgspec.structs.replace(self._command(tuple(told.items()), known), ports=PORTS)

        return BrokerProcess(command, self._warp, nameservers_in(setup))


class TcpBrokerTarget(TcpTarget):
    """``tcp://HOST:PORT``, a Broker that has ``nameserver`` among its NameServers."""

    def __init__(self, uri: str, host: str, port: int, nameserver: tuple[str, int]) -> None:
        super().__init__(uri, host, port)
        self._nameserver = nameserver

    def start(self) -> RemoteBroker:
        super().start()
        return RemoteBroker(self._host, self._port, self._nameserver)


class RemoteBroker(RemoteInstance):
    """A Broker of somebody else's."""

    def __init__(self, host: str, port: int, nameserver: tuple[str, int]) -> None:
        super().__init__(host, port)
        try:
            self._nameserver = ServedNameServer(self._clock, *nameserver)
        except OSError as problem:
            raise TargetError(
                expected=f"to listen at {nameserver[0]}:{nameserver[1]} as the Broker's NameServer",
                got=problem.strerror or str(problem),
                do="give --nameserver an address of this machine that is free",
            ) from problem

    @property
    def nameservers(self) -> tuple[ServedNameServer, ...]:
        return (self._nameserver,)

    def shared(self) -> None:  # type: ignore[override]
        """Nothing: there can be one NameServer at the address."""

    def stop(self) -> None:
        self._nameserver.stop()
