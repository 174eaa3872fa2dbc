"""`specs/codes.yaml`: each code of Apache is a request of the catalogue, or it is said why not."""

from __future__ import annotations

from harness.catalogue import messages
from harness.catalogue.codes import request_codes
from reference_impl.broker.parts import PARTS

MISSING: set[int] = set()
"""Codes of which the catalogue says nothing yet."""


def served() -> set[int]:
    """Codes that some release line of the reference Broker serves."""
    kinds = PARTS["5.3"].classes.values()
    return {
        code for kind in kinds for name in dir(kind) for code in getattr(getattr(kind, name), "answers", {})
    }


def test_every_code_has_its_row() -> None:
    codes, known = request_codes(), {one.code for one in messages().messages}
    unknown = {code for code in codes.codes if code not in known and codes.why(code) is None}
    assert unknown <= MISSING


def test_no_code_is_excused_that_the_catalogue_has() -> None:
    codes, known = request_codes(), {one.code for one in messages().messages}
    excused = [code for other in codes.others for code in other.codes]
    assert len(excused) == len(set(excused))
    assert set(excused) <= codes.codes.keys() - known


def test_the_reference_serves_what_brokers_serve() -> None:
    wanted = {one.code for one in messages().of("broker") if not one.sent}
    assert wanted <= served()


def test_requests_have_the_names_that_apache_gives_them() -> None:
    names = request_codes().codes
    shared = [one for one in messages().messages if one.code in names]
    assert len(shared) > 100
    assert [(one.code, one.name) for one in shared if one.name != names[one.code]] == []
