"""Bodies of POP: as Apache writes them, and as it reads them."""

import pytest

from harness.wire import WireError
from harness.wire.bodies import (
    AssignmentQuestion,
    Assignments,
    BatchAck,
    BatchAcks,
    MessageQueue,
    RequestMode,
    RequestModes,
)

ACKS = b'{"acks":[{"b":"BQ==","c":"G","it":0,"pt":0,"q":0,"r":"0","rq":0,"so":0,"t":"T"}],"brokerName":"b"}'


def test_acknowledgements_as_apache_writes_them():
    acks = BatchAcks([BatchAck(bits="BQ==", consumer_group="G", retry="0", topic="T")], "b")
    assert acks.encode() == ACKS
    assert BatchAcks.decode(ACKS) == acks


def test_bits_are_offsets():
    bits = BatchAck.bits_of([0, 2, 9])
    assert BatchAck(bits=bits, start_offset=100).offsets == [100, 102, 109]
    assert BatchAck(bits="").offsets == []
    with pytest.raises(WireError, match="no bits"):
        _ = BatchAck().offsets
    with pytest.raises(WireError, match="Base64"):
        _ = BatchAck(bits="?").offsets


@pytest.mark.parametrize(
    "body",
    [
        BatchAcks([BatchAck(bits="BQ==", start_offset=7)], "b"),
        AssignmentQuestion("c", "G", "CLUSTERING", "AVG", "T"),
        RequestMode("G", "POP", 2, "T"),
        RequestModes({"T": {"G": RequestMode("G", "POP", 2, "T")}}),
    ],
)
def test_what_is_written_is_read_also_without_quotes_around_names(body):
    written = body.encode()
    assert type(body).decode(written) == body
    assert (
        type(body).decode(b" " + written.replace(b'{"', b"{").replace(b'":', b":").replace(b',"', b","))
        == body
    )


def test_what_is_assigned():
    queues = [MessageQueue("b", -1, "T")]
    assert Assignments(queues, "POP").encode() == (
        b'{"messageQueueAssignments":[{"messageQueue":{"brokerName":"b","queueId":-1,"topic":"T"},"mode":"POP"}]}'
    )
    assert Assignments(None, "PULL").encode() == b"{}"


def test_a_mode_that_is_not_said_is_pull():
    assert RequestMode.decode(b'{"topic":"T","consumerGroup":"G","x":1}').mode == "PULL"
