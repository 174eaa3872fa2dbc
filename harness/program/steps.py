"""All steps: the words of a program. Values only; one step is one line of JSON.

- Each step can be carried out alone, whatever was left out before it: so any part of a program is a program.
- Every field has a default, and the default is the plainest thing to do: a program is simplified by taking
  fields back to it.
- Names are short symbols; the names that a run sends are made of them when a step is carried out.

Steps of a role are in `nameserver.steps`, `nameserver.controller_steps` and `broker.steps`; those that every
server understands in `step`.
"""

from __future__ import annotations

import msgspec

from harness.program.broker import steps as bk
from harness.program.broker.any_request import AnyRequest
from harness.program.broker.pair_steps import Part, Replicate, TakeOver
from harness.program.nameserver import controller_steps as ctl
from harness.program.nameserver import steps as ns
from harness.program.step import Close, Reconnect, Request, Restart, Time
from harness.wire import RequestCode

AnyQuestion = ns.AnyRequest | AnyRequest | ctl.AnyRequest
"""A request to a server of either role, or to a controller."""

AnyStep = (
    AnyQuestion
    | ns.Damaged
    | bk.NameServer
    | bk.Hear
    | Replicate
    | TakeOver
    | Part
    | Close
    | Reconnect
    | Restart
    | Time
)
"""Of a NameServer or of a Broker."""

_OTHER_TITLES: dict[type, str] = {
    ns.Unknown: "unknown request code",
    ns.Damaged: "damaged frame",
    bk.NameServer: "a NameServer of the Broker changes",
    bk.Hear: "what NameServers have heard",
    Replicate: "the slave gets what its master has",
    TakeOver: "the slave takes over what its master knows",
    Part: "master and slave lose each other",
    Close: "close of a connection",
    Reconnect: "new connection beside the old one",
    Restart: "restart of the server",
    Time: "time passes",
}


def title_of(kind: type) -> str:
    """What a kind of step is called: ``UNREGISTER_BROKER (104)``."""
    codes = kind.codes if issubclass(kind, Request) else ()
    return ", ".join(f"{RequestCode(code).name} ({code})" for code in codes) or _OTHER_TITLES[kind]


TITLES: dict[type, str] = {kind: title_of(kind) for kind in AnyStep.__args__}
"""By kind."""

_decoder: msgspec.json.Decoder[AnyStep] = msgspec.json.Decoder(AnyStep)
_encoder = msgspec.json.Encoder()


def encode_step(step: AnyStep) -> str:
    """One line of JSON."""
    return _encoder.encode(step).decode()


def decode_step(line: str | bytes) -> AnyStep:
    """The step of a line. Raises ``msgspec.MsgspecError``."""
    return _decoder.decode(line)
