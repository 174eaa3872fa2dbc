"""Bodies of JSON beyond 64 KiB: every request that has one is answered as with an ordinary body."""

from __future__ import annotations

import pytest

from harness.catalogue import ROLES, Role, messages, newest_profile
from harness.catalogue.field_forms import Form
from harness.catalogue.fields import requests_with_fields
from harness.conformance.asking_fields import OrdinaryRequest, owner_of
from harness.conformance.sessions import session_of
from harness.session.outcome import kind_of
from harness.targets import parse

PADDING = b',"unknownMember":"' + b"x" * 70_000 + b'"}'


@pytest.mark.parametrize("role", ROLES)
def test_large_bodies_are_answered_as_ordinary_ones(role: Role) -> None:
    line = newest_profile(role).name
    target = parse(f"builtin:{line}", role=role)
    sent = set()
    for message in requests_with_fields(messages().of(role), line):
        if message.request_body in (None, "properties", "messages"):
            continue
        instance = target.another(owner_of(message)[0].setup)
        session = session_of(role, instance, line, case=str(message.code), target=target.uri)
        with session:
            request = OrdinaryRequest(session, message)
            ordinary = request.command
            if ordinary.body.startswith(b"{") and "bodyCrc32" not in (ordinary.ext or {}):
                large = Form("body", "large", ordinary.ext or {}, ordinary.body.rstrip()[:-1] + PADDING)
                answers = [request.again(), request.in_form(large)]
                assert len({kind_of(one.outcome(silence_is_an_answer=True)) for one in answers}) == 1, message
                sent.add(message.code)
        instance.stop()
    assert {"nameserver": 217, "broker": 200_151}[role] in sent
    assert len(sent) >= {"nameserver": 2, "broker": 8}[role]
