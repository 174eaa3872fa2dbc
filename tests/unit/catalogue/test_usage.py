"""The classes of statements agree with what real peers send: `specs/usage.yaml`."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.catalogue import (
    CatalogueProblems,
    Role,
    Statement,
    catalogue,
    messages,
    named_requests,
    specs_directory,
    usage,
)
from harness.catalogue.usage import NEEDING, PEERS, load_usage
from harness.cli import main

COPIED = "a slave copies from its master by it: no essential statement is about it"
NO_STATEMENT: dict[Role, dict[int, str]] = {
    "nameserver": {},
    "broker": {
        **dict.fromkeys((60, 61), COPIED),
    },
}
"""Requests of clients or Brokers without an essential statement, and why."""
ROLE_CHANGE = "what a change of roles does to clients and the NameServer; 25 and 906 make the change"
PROXY = "a proxy of 5.x asks it for its consumers, and none was recorded"
UNRECORDED = {
    "ns.topic-registration.counts-as-the-brokers": "224 GET_TOPICS_BY_CLUSTER shows it, too",
    "bk.data-version.is-not-asked-by-default": "17 UPDATE_AND_CREATE_TOPIC makes the change",
    "bk.delay.reply-names-its-own-queue": "its 18 is a delay level and no request",
    "bk.messages.have-the-checksum-of-the-body": "what a message has; 32 GET_EARLIEST_MSG_STORETIME looks",
    "bk.pop.hidden-has-a-new-handle": PROXY,
    "bk.pop.notification-waits": PROXY,
    "bk.pop.notification-waits-until-its-time-is-over": PROXY,
    "bk.pop.notifies": PROXY,
    "bk.pop.notifies-of-what-comes-again": PROXY,
    "bk.pop.several-are-acknowledged-at-once": PROXY,
    "bk.pop.waits-for-a-message": "200055 POLLING_INFO, an operator's, looks",
    "bk.pop.waits-for-a-message-of-its-queue": "200055 POLLING_INFO, an operator's, looks",
    "bk.registration.single-topic-joins-the-table": "what a Broker registers after 17 made a change",
    "bk.replication.slave-follows-who-offers": ROLE_CHANGE,
    "bk.role.acting-slave-delivers-nothing-itself": ROLE_CHANGE,
    "bk.role.change-is-no-departure": ROLE_CHANGE,
    "bk.role.demoted-broker-delivers-no-delay": ROLE_CHANGE,
    "bk.role.demoted-broker-registers-as-slave": ROLE_CHANGE,
    "bk.role.master-says-where-to-copy": ROLE_CHANGE,
    "bk.role.promoted-broker-registers-as-master": ROLE_CHANGE,
    "bk.role.slave-does-not-say-where-to-copy": ROLE_CHANGE,
    "bk.send.id-names-the-place-in-the-log": "what a message has; 33 VIEW_MESSAGE_BY_ID looks",
    "bk.storage.deletion-of-a-topic-keeps-others": "what was acknowledged is there after a kill; 215 deletes",
    "bk.storage.keys-survive-a-kill": "what was acknowledged is there after a kill; 12 QUERY_MESSAGE looks",
    "bk.transaction.answer-to-a-question-commits": "39 CHECK_TRANSACTION_STATE is sent by the Broker",
    "bk.transaction.asked-after-six-seconds-by-default": "what a message has; 33 VIEW_MESSAGE_BY_ID looks",
    "bk.transaction.asked-every-half-minute-by-default": "what a message has; 33 VIEW_MESSAGE_BY_ID looks",
    "bk.transaction.asked-every-minute-by-default": "what a message has; 33 VIEW_MESSAGE_BY_ID looks",
}
"""Essential statements that name a request which no peer sent, or none of clients and Brokers; and why."""


def of(role: Role) -> list[Statement]:
    """Those about this role: the `wire.` ones are about frames, whatever they carry."""
    return [one for one in catalogue().of(role).statements if not one.id.startswith("wire.")]


@pytest.mark.parametrize("role", ["nameserver", "broker"])
def test_what_clients_and_brokers_send_has_an_essential_statement(role: Role) -> None:
    essential = {code for one in of(role) if one.class_ == "essential" for code in named_requests(one, role)}
    missing = usage().needed(role) - essential
    assert sorted(missing) == sorted(NO_STATEMENT[role])


def test_an_essential_statement_is_about_what_peers_send_and_clients_or_brokers_need() -> None:
    wrong = {
        one.id
        for role in ("nameserver", "broker")
        for one in of(role)
        if one.class_ == "essential"
        and (named := named_requests(one, role))
        and not (named <= usage().requests[role].keys() and named & usage().needed(role))
    }
    assert sorted(wrong) == sorted(UNRECORDED)


def test_only_known_requests_are_recorded() -> None:
    for role, codes in usage().requests.items():
        assert codes.keys() <= {one.code for one in messages().of(role)}
        for by in codes.values():
            assert by.keys() <= PEERS.keys()
            assert {line for lines in by.values() for line in lines} <= usage().recorded.keys()
    assert {peer for codes in usage().requests.values() for by in codes.values() for peer in by} == {*PEERS}
    assert PEERS.keys() > NEEDING


def test_a_reader_sees_who_sends_it_and_those_of_which_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert usage().words("nameserver", 105) == "Java client, C++ client, Broker (5.3), mqadmin"
    assert usage().words("nameserver", 904) == "Broker (5.3)"
    assert usage().words("nameserver", 219) == ""
    assert main(["explain", "105"]) == 0
    assert "used by        Java client, C++ client, Broker (5.3), mqadmin" in capsys.readouterr().out
    assert main(["explain", "ns.lease.heartbeat-creates-nothing"]) == 0
    assert "904 BROKER_HEARTBEAT: Broker (5.3)" in capsys.readouterr().out
    assert main(["explain", "219"]) == 0
    assert "none of the peers whose traffic was recorded" in capsys.readouterr().out


def test_an_unknown_peer_is_refused(tmp_path: Path) -> None:
    (tmp_path / "schema").symlink_to(specs_directory() / "schema")
    said = 'recorded: {"5.3": 5.3.3}\nrequests:\n  nameserver:\n    105: {client-go: ["5.3"]}\n  broker: {}\n'
    (tmp_path / "usage.yaml").write_text(said)
    with pytest.raises(CatalogueProblems, match="client-go"):
        load_usage(tmp_path)
