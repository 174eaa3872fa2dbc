"""Requests of the test itself to a Broker: in the process, without a socket.

They are no client's: faults do not meet them, and `requests` does not show them.
"""

from __future__ import annotations

import asyncio
from typing import Final

from harness.wire import Command, ResponseCode
from harness.wire.code_names import request_words, response_name
from reference_impl.remoting.reply import Reply

from .messages import Broker
from .problems import RocketMQError

PEER: Final = "127.0.0.1:0"
"""Where such a request seems to come from."""
_CONNECTION: Final = -1
"""A number that no connection of a shell has."""
_WITHIN: Final = 5.0


async def ask(broker: Broker, command: Command) -> Reply:
    """The answer of a Broker, which is success. What it stored is handed to the storage.

    Raises RocketMQError.
    """
    shell, endpoint = broker.shell, broker.endpoint
    if shell.is_paused:
        raise RocketMQError(
            f"{broker.name} is stopped or paused and cannot be asked {request_words(command.code)}; "
            f"start_broker({broker.name!r}) brings it back"
        )
    now = endpoint.now = max(shell.now(), endpoint.now)
    endpoint.connected(_CONNECTION, PEER, now)
    reply = endpoint.broker.execute(command, _CONNECTION, now)
    shell.perform(endpoint.work())
    shell.perform(endpoint.lost(_CONNECTION, now))
    try:
        async with asyncio.timeout(_WITHIN):
            while shell.is_holding:
                await asyncio.sleep(0)
    except TimeoutError:
        raise RocketMQError(
            f"{broker.name} did not answer {request_words(command.code)} within {_WITHIN:.0f} s"
        ) from None
    if reply is None or reply.code != ResponseCode.SUCCESS:
        what = "nothing" if reply is None else f"{response_name(reply.code) or reply.code}: {reply.remark}"
        raise RocketMQError(f"{broker.name} answered {request_words(command.code)} with {what}")
    return reply
