"""`specs/codes.yaml`: each code of Apache is a request of the catalogue, or it is said why not."""

from __future__ import annotations

import pytest
from request_codes import known_to, served

from harness.catalogue import ROLES, Role, messages, profiles
from harness.catalogue.codes import request_codes
from harness.targets import parse

LINES = [(role, one.name) for role in ROLES for one in profiles(role)]


@pytest.mark.parametrize(("role", "line"), LINES)
def test_the_reference_knows_what_the_catalogue_says(role: Role, line: str) -> None:
    instance = parse(f"builtin:{line}", role).start()
    try:
        assert known_to(instance) == served(role, line)
    finally:
        instance.stop()


def test_every_code_has_its_row() -> None:
    codes, known = request_codes(), {one.code for one in messages().messages}
    assert [code for code in codes.codes if code not in known and codes.why(code) is None] == []


def test_no_code_is_excused_that_the_catalogue_has() -> None:
    codes, known = request_codes(), {one.code for one in messages().messages}
    excused = [code for other in codes.others for code in other.codes]
    assert len(excused) == len(set(excused))
    assert set(excused) <= codes.codes.keys() - known


def test_requests_have_the_names_that_apache_gives_them() -> None:
    names = request_codes().codes
    shared = [one for one in messages().messages if one.code in names]
    assert len(shared) > 100
    assert [(one.code, one.name) for one in shared if one.name != names[one.code]] == []
