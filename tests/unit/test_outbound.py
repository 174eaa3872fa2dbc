"""Connections that a server opens itself: what is asked is answered once, and everything is bounded."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from harness.wire import Command, FrameBuffer, decode, encode
from reference_impl.serve import outbound
from reference_impl.serve.outbound import Outbound

Peer = Callable[[Command, asyncio.StreamWriter], None]
"""What a peer does with a request."""


async def peer(does: Peer, connections: list[asyncio.StreamWriter]) -> asyncio.Server:
    async def accepted(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connections.append(writer)
        buffer = FrameBuffer()
        while data := await reader.read(65_536):
            buffer.feed(data)
            while (frame := buffer.next_frame()) is not None:
                does(decode(frame), writer)
        writer.close()

    return await asyncio.start_server(accepted, "127.0.0.1", 0)


class Side:
    """One pool, one peer, and what came back: (number, code), or (number, None) for no answer."""

    def __init__(self) -> None:
        self.pool = Outbound()
        self.connections: list[asyncio.StreamWriter] = []
        self.heard: list[tuple[int, int | None]] = []
        self.requests: list[Command] = []
        self.address = ""

    def ask(self, number: int, until: int = 5_000, address: str = "") -> None:
        def answered(frame: bytes | None) -> None:
            self.heard.append((number, None if frame is None else decode(frame).code))

        data = encode(Command(code=322, opaque=number))
        self.pool.ask(address or self.address, number, data, until, answered)

    async def until(self, what: Callable[[], bool]) -> None:
        async with asyncio.timeout(10):
            while not what():
                await asyncio.sleep(0.005)


def against(does: Peer, session: Callable[[Side], Awaitable[None]]) -> Side:
    """Runs a session against a peer."""
    side = Side()

    async def run() -> None:
        side.pool = Outbound()

        def request(command: Command, writer: asyncio.StreamWriter) -> None:
            side.requests.append(command)
            does(command, writer)

        server = await peer(request, side.connections)
        side.address = f"127.0.0.1:{server.sockets[0].getsockname()[1]}"
        await session(side)
        side.pool.stop()
        await asyncio.sleep(0)
        server.close()
        for connection in side.connections:
            connection.close()

    asyncio.run(run())
    return side


def reply(command: Command, writer: asyncio.StreamWriter) -> None:
    writer.write(encode(Command(code=command.opaque, opaque=command.opaque, flag=1)))


def silent(command: Command, writer: asyncio.StreamWriter) -> None:
    return


def test_answers_are_matched_by_opaque_whatever_their_order() -> None:
    held: list[Command] = []

    def backwards(command: Command, writer: asyncio.StreamWriter) -> None:
        held.append(command)
        if len(held) == 3:
            for one in reversed(held):
                reply(one, writer)

    async def session(side: Side) -> None:
        for number in (7, 8, 9):
            side.ask(number)
        await side.until(lambda: len(side.heard) == 3)

    side = against(backwards, session)
    assert side.heard == [(9, 9), (8, 8), (7, 7)]
    assert len(side.connections) == 1


def test_telling_and_asking_share_a_connection() -> None:
    async def session(side: Side) -> None:
        side.pool.send(side.address, encode(Command(code=904, flag=2)))
        side.ask(1)
        await side.until(lambda: bool(side.heard))
        side.pool.send(side.address, encode(Command(code=904, flag=2)))
        await side.until(lambda: len(side.requests) == 3)

    side = against(reply, session)
    assert [one.code for one in side.requests] == [904, 322, 904]
    assert len(side.connections) == 1


def test_silence_is_no_answer_and_a_late_answer_is_nothing() -> None:
    async def session(side: Side) -> None:
        side.ask(1, until=100)
        await side.until(lambda: bool(side.requests))
        side.ask(2, until=200)
        assert side.pool.due() == 100
        side.pool.expire(99)
        assert side.heard == []
        side.pool.expire(100)
        assert (side.heard, side.pool.due()) == ([(1, None)], 200)
        reply(side.requests[0], side.connections[0])
        side.ask(3, until=300)
        await side.until(lambda: len(side.requests) == 3)
        side.pool.expire(300)

    assert against(silent, session).heard == [(1, None), (2, None), (3, None)]


def test_nothing_is_expected_soon_of_who_is_silent_until_there_is_an_answer() -> None:
    def second(command: Command, writer: asyncio.StreamWriter) -> None:
        if command.opaque == 2:
            reply(command, writer)

    async def session(side: Side) -> None:
        assert not side.pool.is_awaiting
        side.ask(1)
        assert side.pool.is_awaiting
        side.pool.doubt()
        assert not side.pool.is_awaiting
        side.ask(2)
        await side.until(lambda: bool(side.heard))
        assert side.pool.is_awaiting

    assert against(second, session).heard[0] == (2, 2)


def test_an_end_answers_all_with_none_and_the_next_question_connects_again() -> None:
    def ends(command: Command, writer: asyncio.StreamWriter) -> None:
        if command.opaque == 2:
            writer.close()
        if command.opaque == 3:
            reply(command, writer)

    async def session(side: Side) -> None:
        side.ask(1)
        side.ask(2)
        await side.until(lambda: len(side.heard) == 2)
        side.ask(3)
        await side.until(lambda: len(side.heard) == 3)

    side = against(ends, session)
    assert side.heard == [(1, None), (2, None), (3, 3)]
    assert len(side.connections) == 2


def test_bytes_that_are_no_frames_end_the_connection() -> None:
    async def session(side: Side) -> None:
        side.ask(1)
        await side.until(lambda: bool(side.heard))

    side = against(lambda _, writer: writer.write(b"HTTP/1.1 400 Bad\r\n\r\n"), session)
    assert side.heard == [(1, None)]


def test_who_cannot_be_reached_is_no_answer_and_never_at_once() -> None:
    async def session(side: Side) -> None:
        for number, address in enumerate(("nowhere", "127.0.0.1:1", "127.0.0.1:x", "127.0.0.1:99999")):
            side.ask(number, address=address)
            assert len(side.heard) <= number
        await side.until(lambda: len(side.heard) == 4)

    assert {code for _, code in against(reply, session).heard} == {None}


def test_the_number_of_open_questions_is_limited() -> None:
    async def session(side: Side) -> None:
        side.ask(0)
        await side.until(lambda: bool(side.requests))
        for number in range(1, outbound.MOST_ASKED + 5):
            side.ask(number)
        await side.until(lambda: len(side.heard) >= 5)
        assert {number for number, _ in side.heard} == set(
            range(outbound.MOST_ASKED, outbound.MOST_ASKED + 5)
        )

    side = against(silent, session)
    assert len(side.heard) == outbound.MOST_ASKED + 5
    assert len({number for number, _ in side.heard}) == len(side.heard)
