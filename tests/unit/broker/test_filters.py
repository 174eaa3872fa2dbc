"""Filters of groups: the file that keeps them."""

from __future__ import annotations

import json

import pytest

from reference_impl.broker.filters import FILTERS_FILE, GroupFilter
from reference_impl.broker.outbox import Saving
from reference_impl.remoting.errors import ConfigError

from .driver import STARTED

SAID = GroupFilter("G", "T", "a = 1", "SQL92", client_version=7, born_time=STARTED - 90_000)


def test_filters_are_written_as_apache_names_them_and_read_again(asked, profile) -> None:
    first = asked(profile)
    first.broker.filters.take(SAID)
    first.broker.filters.settle(STARTED)
    (text,) = [one.data for one in first.taken(Saving) if one.name == FILTERS_FILE]
    table = json.loads(text)["filterDataByTopic"]["T"]
    assert table["topic"] == "T"
    assert table["groupFilterData"]["G"] == {
        "consumerGroup": "G", "topic": "T", "expression": "a = 1", "expressionType": "SQL92",
        "clientVersion": 7, "bornTime": STARTED - 90_000, "deadTime": 0,
    }  # fmt: skip
    again = asked(profile, stored={FILTERS_FILE: text}).broker.filters.of("T", "G")
    assert again.is_dead
    assert (again.expression, again.dead_time) == ("a = 1", STARTED - 30_000)


def test_a_damaged_file_is_refused(asked, profile) -> None:
    with pytest.raises(ConfigError, match="put one of them back"):
        asked(profile, stored={FILTERS_FILE: b'{"filterDataByTopic":{"T":7}}'})
