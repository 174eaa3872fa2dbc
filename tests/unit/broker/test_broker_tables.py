"""Tables as files: the text that Apache's Brokers wrote, read and written again."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness.wire import fastjson
from harness.wire.bodies import (
    ConsumerOffsets,
    DataVersion,
    DelayOffsets,
    SubscriptionGroupTable,
    TopicConfigTable,
)
from reference_impl.broker.tables import as_file, stored_table
from reference_impl.remoting.errors import ConfigError

FIXTURES = Path(__file__).parents[3] / "fixtures" / "tables"
KINDS: dict[str, Callable[[bytes], Any]] = {
    "topics": TopicConfigTable.decode,
    "subscriptionGroup": SubscriptionGroupTable.decode,
    "consumerOffset": ConsumerOffsets.decode,
    "delayOffset": DelayOffsets.decode,
}


@pytest.mark.parametrize("version", ["4.9.8", "5.3.3"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_file_of_apaches_is_read_and_written_as_it_was(version: str, kind: str) -> None:
    text = (FIXTURES / version / f"{kind}.json").read_bytes()
    table = KINDS[kind](text)
    assert as_file(table.document()) == text
    assert fastjson.parse(table.encode()) == fastjson.parse(text)
    assert b"\n" not in table.encode()


def test_what_the_files_say() -> None:
    offsets = ConsumerOffsets.decode((FIXTURES / "5.3.3" / "consumerOffset.json").read_bytes())
    assert offsets.offset_table == {"Other@g1": {2: 1}, "MyTopic@g1": {0: 2, 1: 5}}
    assert offsets.data_version == DataVersion(0, 1795335042430, 0)
    old = ConsumerOffsets.decode((FIXTURES / "4.9.8" / "consumerOffset.json").read_bytes())
    assert (old.offset_table, old.data_version) == (offsets.offset_table, None)
    topics = TopicConfigTable.decode((FIXTURES / "4.9.8" / "topics.json").read_bytes())
    assert topics.topic_config_table["MyTopic"].read_queue_nums == 4
    assert topics.topic_config_table["MyTopic"].attributes is None
    groups = SubscriptionGroupTable.decode((FIXTURES / "5.3.3" / "subscriptionGroup.json").read_bytes())
    assert groups.forbidden_table == {}
    assert groups.subscription_group_table["g1"].retry_max_times == 16


def test_numeric_names_may_have_quotes() -> None:
    assert DelayOffsets.decode(b'{"offsetTable":{"1":5}}').offset_table == {1: 5}
    assert ConsumerOffsets.decode(b'{"offsetTable":{"T@G":{"1":5,2:6}}}').offset_table == {
        "T@G": {1: 5, 2: 6}
    }


@pytest.mark.parametrize(
    ("stored", "found"),
    [
        ({}, None),
        ({"f": b"", "f.bak": b" \n"}, None),
        ({"f": b'{"offsetTable":{1:1}}', "f.bak": b'{"offsetTable":{1:0}}'}, {1: 1}),
        ({"f": b"", "f.bak": b'{"offsetTable":{1:0}}'}, {1: 0}),
        ({"f": b'{"offsetTable":{1:', "f.bak": b'{"offsetTable":{1:0}}'}, {1: 0}),
        ({"f.bak": b'{"offsetTable":{1:0}}'}, {1: 0}),
    ],
)
def test_the_backup_is_read_where_the_file_is_no_table(
    stored: dict[str, bytes], found: dict[int, int] | None
) -> None:
    table = stored_table(stored, "f", DelayOffsets.decode)
    assert (table.offset_table if table else None) == found


def test_two_files_that_are_no_tables_are_refused() -> None:
    with pytest.raises(ConfigError, match=r"f cannot be read .* and f\.bak neither: put one of them back"):
        stored_table({"f": b"{", "f.bak": b"null"}, "f", DelayOffsets.decode)
