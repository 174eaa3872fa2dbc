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

COPIED = "a slave copies from its master by it: statements look by it, and none is about it"
NO_STATEMENT: dict[Role, dict[int, str]] = {
    "nameserver": {},
    "broker": {
        **dict.fromkeys((21, 43, 45, 201, 402), COPIED),
        325: "an answer to a message that asks: the catalogue has nothing about asking by messages",
        361: "statements about pulling name 11 PULL_MESSAGE, which is answered alike",
    },
}
"""Requests of clients or Brokers without an essential statement, and why."""
UNRECORDED = {
    "bk.messages.have-the-checksum-of-the-body": "what a message has; 32 GET_EARLIEST_MSG_STORETIME looks",
    "bk.pop.notif": "200054 NOTIFICATION: a proxy of 5.x asks it for its consumers, and none was recorded",
    "bk.registration.single-topic-joins-the-table": "what a Broker registers after 17 made a change",
    "bk.role.": "what a change of roles does to clients and the NameServer; 25 and 906 make the change",
    "bk.storage.keys-survive-a-kill": "what was acknowledged is there after a kill; 12 QUERY_MESSAGE looks",
}
"""Essential statements, or beginnings of their ids, that name no request of clients or Brokers; and why."""


def of(role: Role) -> list[Statement]:
    """Those about this role: the `wire.` ones are about frames, whatever they carry."""
    return [one for one in catalogue().of(role).statements if not one.id.startswith("wire.")]


@pytest.mark.parametrize("role", ["nameserver", "broker"])
def test_what_clients_and_brokers_send_has_an_essential_statement(role: Role) -> None:
    essential = {code for one in of(role) if one.class_ == "essential" for code in named_requests(one, role)}
    missing = usage().needed(role) - essential
    assert sorted(missing) == sorted(NO_STATEMENT[role])


@pytest.mark.parametrize("role", ["nameserver", "broker"])
def test_an_essential_statement_names_what_clients_or_brokers_send(role: Role) -> None:
    wrong = {
        one.id
        for one in of(role)
        if one.class_ == "essential"
        and (named := named_requests(one, role))
        and not named & usage().needed(role)
        and not one.id.startswith(tuple(UNRECORDED))
    }
    assert wrong == set()


def test_every_exception_is_one() -> None:
    for beginning in UNRECORDED:
        found = [
            one
            for one in of("broker")
            if one.id.startswith(beginning) and one.class_ == "essential" and named_requests(one, "broker")
        ]
        assert any(not named_requests(one, "broker") & usage().needed("broker") for one in found), beginning


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
    assert usage().words("nameserver", 217) == ""
    assert main(["explain", "105"]) == 0
    assert "used by        Java client, C++ client, Broker (5.3), mqadmin" in capsys.readouterr().out
    assert main(["explain", "ns.lease.heartbeat-creates-nothing"]) == 0
    assert "904 BROKER_HEARTBEAT: Broker (5.3)" in capsys.readouterr().out
    assert main(["explain", "217"]) == 0
    assert "none of the peers whose traffic was recorded" in capsys.readouterr().out


def test_a_peer_that_nobody_knows_is_refused(tmp_path: Path) -> None:
    (tmp_path / "schema").symlink_to(specs_directory() / "schema")
    said = 'recorded: {"5.3": 5.3.3}\nrequests:\n  nameserver:\n    105: {client-go: ["5.3"]}\n  broker: {}\n'
    (tmp_path / "usage.yaml").write_text(said)
    with pytest.raises(CatalogueProblems, match="client-go"):
        load_usage(tmp_path)
