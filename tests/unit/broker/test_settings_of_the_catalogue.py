"""The settings of a Broker that the catalogue lists, beside those that the reference reads."""

from __future__ import annotations

import re

import pytest

from harness.catalogue import catalogue, messages
from harness.catalogue.messages import Member
from reference_impl.broker.config import Config

LISTED = messages().settings.brokers
READ = {one.encode_name: one for one in Config.settings()}
OTHER_DEFAULTS = {
    "brokerName": "a fixed name, not the machine's",
    "brokerIP1": "the loopback address",
    "brokerIP2": "the loopback address",
    "transactionCheckInterval": "0 stands for that of the line",
}
"""Settings whose default the reference does not share with Apache, and what it has."""


def of_the_reference(name: str) -> str:
    default = READ[name].default
    return str(default).lower() if isinstance(default, bool) else str(default)


def test_every_setting_of_the_reference_that_a_statement_names_is_listed() -> None:
    said = "\n".join(
        f"{one.text}\n{one.stimulus}\n{one.observable}"
        for one in catalogue().statements
        if one.id.startswith("bk.")
    )
    assert [name for name in READ if re.search(rf"\b{name}\b", said)] == [one.name for one in LISTED]


@pytest.mark.parametrize("listed", LISTED, ids=lambda one: one.name)
def test_a_default_is_that_of_the_reference(listed: Member) -> None:
    if listed.name not in OTHER_DEFAULTS:
        assert (listed.default or "") == of_the_reference(listed.name)
