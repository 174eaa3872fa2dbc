"""What is remembered of register bodies never changes what is read from them."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.wire import WireError
from harness.wire.bodies import RegisterBody, TopicConfig, TopicQueueMappingInfo
from reference_impl.nameserver.bodies import LARGEST, REMEMBERED, BodyMemory

from .driver import topic, version


def _topics(body: RegisterBody) -> dict[str, TopicConfig]:
    return body.topics or {}


TABLES = st.dictionaries(
    st.sampled_from(["TA", "TB", "é", 'q"topicConfigTable":{}']), st.integers(0, 7), max_size=3
)
BODIES = st.builds(
    lambda table, counter, filters, mapped: RegisterBody(
        topics={name: topic(name, perm=perm) for name, perm in table.items()},
        data_version=version(counter),
        filter_servers=filters,
        mappings={"TA": TopicQueueMappingInfo(bname="b", curr_id_map={0: 1})} if mapped else None,
    ).encode(),
    TABLES,
    st.integers(0, 3),
    st.sampled_from([None, [], ["f"]]),
    st.booleans(),
) | st.sampled_from(
    [
        b"",
        b"{}",
        b"null",
        b"{",
        b'{"topicConfigTable":{"TA":{"topicName":"TA"}},"topicConfigSerializeWrapper":{"topicConfigTable":{}}}',
        b'{"topicConfigTable":{"TA":{"topicName":"TA"}},'
        b'"topicConfigSerializeWrapper":{"topicConfigTable":{"TA":{"topicName":"TA"}}}}',
        b'{"topicConfigSerializeWrapper":{"topicConfigTable":{"TA":{"topicName":"TA"}}}}',
        b'{"topicConfigSerializeWrapper":{"topicConfigTable":{"TA":{"topicName":"TA"}}x}}',
        b'{"topicConfigSerializeWrapper":{"topicConfigTable":{"TA":{"topicName":"TA"}},"topicConfigTable":{}}}',
        b'{"topicConfigSerializeWrapper":{"topicConfigTable":{},"topicConfigTable":{"TA":{"topicName":"TA"}}}}',
        b"{'topicConfigSerializeWrapper':{'topicConfigTable':{'TA':{'topicName':'TA'}}}}",
    ]
)


@settings(deadline=None)
@given(st.booleans(), st.lists(st.tuples(BODIES, st.sampled_from([36, 37, 479]), st.booleans()), max_size=8))
def test_memory_gives_what_reading_gives(v5: bool, sent: list[tuple[bytes, int, bool]]) -> None:
    memory = BodyMemory(v5, _topics)
    for body, number, compressed in sent:
        try:
            expected = RegisterBody.decode(body, compressed=compressed, version=number, v5=v5)
        except WireError:
            with pytest.raises(WireError):
                memory.read("a", body, compressed=compressed, version=number)
        else:
            expected.topics = _topics(expected)
            assert memory.read("a", body, compressed=compressed, version=number) == expected


def test_what_is_the_same_is_the_same_object() -> None:
    memory = BodyMemory(True, _topics)
    table = {"TA": topic("TA"), "TB": topic("TB")}

    def read(counter: int, address: str = "a") -> RegisterBody:
        body = RegisterBody(topics=table, data_version=version(counter)).encode()
        return memory.read(address, body, compressed=False, version=479)

    first = read(1)
    assert read(1) is first
    assert read(2).topics is first.topics
    assert read(2).data_version == version(2)
    assert read(1, "other") is not first


def test_memory_is_bounded() -> None:
    memory = BodyMemory(True, _topics)
    body = RegisterBody(topics={"TA": topic("TA")}).encode()
    for number in range(REMEMBERED + 10):
        memory.read(f"a{number}", body, compressed=False, version=479)
    assert len(memory._last) == REMEMBERED
    large = RegisterBody(
        topics={f"T{number}": topic(f"T{number}") for number in range(LARGEST // 100)}
    ).encode()
    assert memory.read("large", large, compressed=False, version=479) == RegisterBody.decode(large)
    assert "large" not in memory._last
