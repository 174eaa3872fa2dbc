"""What the 4.9 line answers differently. Source: DefaultRequestProcessor of rocketmq-all-4.9.8."""

from harness.wire import Command
from harness.wire.bodies import DataVersion
from reference_impl.remoting import fields
from reference_impl.remoting.reply import RefusedError

from .core import NameServer


class NameServer49(NameServer):
    """A data version has no stateVersion."""

    def given_version(self, command: Command) -> DataVersion | None:
        if not command.body:
            raise RefusedError("the body is missing; expected a data version")
        return super().given_version(command)

    def queried_broker(self, command: Command) -> tuple[str, str | None]:
        """The cluster is not looked at, and no address is an unknown broker's."""
        return "", fields.text(command.ext, "brokerAddr")

    def query_refreshes(self, changed: bool) -> bool:
        """Only if nothing has changed: otherwise the broker is about to register."""
        return not changed

    def encoded_version(self, version: DataVersion) -> bytes:
        return DataVersion(counter=version.counter, timestamp=version.timestamp, state_version=None).encode()
