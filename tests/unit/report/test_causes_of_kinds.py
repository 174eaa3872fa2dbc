"""Causes that are about a kind of difference: requests of several codes that are unusual alike."""

from __future__ import annotations

from cause_samples import (
    GONE,
    OK,
    QUERY,
    REFUSED,
    REGISTER,
    ROUTE,
    UNREGISTER,
    answered,
    failed,
    outcome,
    passed,
    run_of,
)

from harness.report.cause_words import explained
from harness.report.results import CaseResult

LIST = "224 GET_TOPICS_BY_CLUSTER"
WIPE = "205 WIPE_WRITE_PERM_OF_BROKER"
PUT = "100 PUT_KV_CONFIG"


def titles(*results: CaseResult) -> list[str]:
    return [one.title for one in explained(run_of(*results)).causes]


DEMANDED = (
    failed("routes.no-topic", ROUTE, outcome(GONE, REFUSED), "without the field topic"),
    failed("topics.no-cluster", LIST, outcome(OK, REFUSED), "without the field cluster"),
    failed("permission.no-name", WIPE, outcome(OK, REFUSED), "without the field brokerName"),
)
OTHERS_MAY_BE_MISSING = passed(
    "kv.no-value",
    answered(PUT, OK, "without the field value"),
    answered(REGISTER, OK, "without the field haServerAddr"),
    answered(REGISTER, OK, "without the field bodyCrc32"),
    answered(UNREGISTER, REFUSED, "without the field brokerName"),
)


def test_a_server_that_demands_some_fields_and_does_without_others_has_one_cause() -> None:
    assert titles(*DEMANDED, OTHERS_MAY_BE_MISSING) == [
        "A request with any of 3 codes (a field that is missing: topic, cluster, brokerName) is answered "
        "SYSTEM_ERROR (1)"
    ]


def test_one_of_these_fields_that_may_be_missing_elsewhere_keeps_them_apart() -> None:
    served = passed("x.y", answered(QUERY, OK, "without the field brokerName"))
    assert len(titles(*DEMANDED, OTHERS_MAY_BE_MISSING, served)) == 3


def test_two_codes_are_not_enough_for_a_kind_of_which_others_are_served() -> None:
    assert len(titles(*DEMANDED[:2], OTHERS_MAY_BE_MISSING)) == 2


def test_what_should_be_refused_and_is_accepted_is_one_cause_whatever_is_refused_otherwise() -> None:
    accepted = [
        failed(f"a.{number}", request, outcome(REFUSED, OK), f"without the field {field}")
        for number, (request, field) in enumerate(
            [(REGISTER, "brokerName"), (REGISTER, "clusterName"), (PUT, "namespace"), (PUT, "key")]
        )
    ]
    rightly = [passed(f"b.{field}", answered(ROUTE, GONE, f"without the field {field}")) for field in "xyz"]
    assert titles(*accepted, *rightly) == [
        "103 REGISTER_BROKER or 100 PUT_KV_CONFIG (a field that is missing: brokerName, clusterName, "
        "namespace, key) is accepted instead of SYSTEM_ERROR (1)"
    ]
    checked = [
        passed(f"c.{field}", answered(QUERY, REFUSED, f"without the field {field}")) for field in "uvw"
    ]
    assert len(titles(*accepted, *rightly, *checked)) == 2


def test_members_of_headers_are_one_kind_whichever_code_shows_it() -> None:
    strict = (
        failed("framing.flag", ROUTE, outcome(GONE, "closed"), "header without flag"),
        failed("framing.version", ROUTE, outcome(GONE, "closed"), "header without version"),
        failed("framing.value", PUT, outcome(OK, "closed"), "a header value of another type"),
    )
    others = [passed("a.b", answered(ROUTE, GONE)), passed("c.d", answered(PUT, OK, "an unknown language"))]
    assert titles(*strict, *others) == [
        "105 GET_ROUTEINFO_BY_TOPIC or 100 PUT_KV_CONFIG (a header with members missing or of another type: "
        "flag, version, a header value of another type) closes the connection"
    ]
    assert len(titles(*strict[1:], *others)) == 2


def test_what_is_served_elsewhere_does_not_hide_what_is_not() -> None:
    strict = [
        failed(f"framing.{number}", ROUTE, outcome(GONE, "closed"), "an unknown language", trait)
        for number, trait in enumerate(
            ("header without flag", "header without version", "a header value of another type")
        )
    ]
    served = [
        passed(f"binary.{number}", answered(ROUTE, GONE, "an unknown language", f"opaque {number}"))
        for number in range(5)
    ]
    (title,) = titles(*strict, *served)
    assert "(a header with members missing or of another type: flag, version, a header value of" in title


def test_a_code_that_is_refused_alike_is_one_cause_whatever_was_wanted_of_it() -> None:
    update = "318 UPDATE_NAMESRV_CONFIG"
    refused = [
        failed("a.b", update, outcome(OK, REFUSED)),
        failed("c.d", update, outcome("NO_PERMISSION (16)", REFUSED)),
    ]
    rightly = [
        passed(f"e.{number}", answered(update, OK), answered(update, "NO_PERMISSION (16)"))
        for number in range(5)
    ]
    assert titles(*refused, *rightly) == ["318 UPDATE_NAMESRV_CONFIG is answered SYSTEM_ERROR (1)"]
    should_close = failed("g.h", update, outcome("closed", REFUSED))
    assert len(titles(*refused, should_close, *rightly)) == 2
