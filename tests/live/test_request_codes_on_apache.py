"""Apache's servers know the request codes that the catalogue says they know, and no others."""

from __future__ import annotations

import pytest
from clusters import missing
from request_codes import known_to, served

from harness.catalogue import ROLES, Role
from harness.targets import TargetError, parse

pytestmark = [pytest.mark.live, pytest.mark.soak]

ACCOUNTS_WITH_KEYS = 54
"""What the Broker of 4.9.7 tries to serve, which stands in for that of 4.9.8."""
VERSION_OF_ACCOUNTS = 52
"""What that Broker leaves without an answer where access control is off."""


@pytest.mark.parametrize(("version", "line"), [("4.9.8", "4.9"), ("5.3.3", "5.3"), ("5.5.0", "5.5")])
@pytest.mark.parametrize("role", ROLES)
def test_the_catalogue_names_what_apache_serves(role: Role, version: str, line: str) -> None:
    try:
        instance = parse(f"apache:{version}", role).start()
    except TargetError as problem:
        missing(problem)
    try:
        known = known_to(instance)
    finally:
        instance.stop()
    unlike = {ACCOUNTS_WITH_KEYS, VERSION_OF_ACCOUNTS} if (role, line) == ("broker", "4.9") else set()
    assert known == served(role, line) ^ unlike
