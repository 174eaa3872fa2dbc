"""Which failures are one cause: by what the wire shows, and against what outcomes as expected contradict."""

from __future__ import annotations

import cause_samples as made
import msgspec
import pytest
from cause_samples import (
    CLUSTER,
    GONE,
    INVALID,
    OK,
    QUERY,
    REFUSED,
    REGISTER,
    ROUTE,
    TOPICS,
    UNREGISTER,
    answered,
    failed,
    member,
    outcome,
    passed,
    run_of,
)

from harness.report.cause_words import explained
from harness.report.causes import causes_of
from harness.report.results import CaseResult, Verdict, Wrong


def groups(*results: CaseResult) -> list[set[str]]:
    """The names of the cases that each cause makes fail."""
    return [{one.case for one in cause.failed} for cause in causes_of(run_of(*results))]


def titles(*results: CaseResult) -> list[str]:
    return [one.title for one in explained(run_of(*results)).causes]


def test_every_error_with_another_number_is_one_cause_whatever_was_asked() -> None:
    results = (
        failed("a.1", REGISTER, outcome(REFUSED, INVALID), "no body"),
        failed("a.2", QUERY, outcome(REFUSED, INVALID), "body that cannot be read"),
        failed("a.3", "100 PUT_KV_CONFIG", outcome(f"{REFUSED} or {OK}", INVALID), "key empty"),
    )
    assert groups(*results) == [{"a.1", "a.2", "a.3"}]
    assert titles(*results) == [
        "A request with any of 3 codes is answered INVALID_PARAMETER (29) instead of SYSTEM_ERROR (1)"
    ]


def test_one_number_for_every_refusal_is_one_cause_unless_one_refusal_has_its_own() -> None:
    results = (
        failed("a.1", REGISTER, outcome(REFUSED, INVALID), "no body"),
        failed("a.2", ROUTE, outcome(GONE, INVALID)),
        failed("a.3", "101 GET_KV_CONFIG", outcome("QUERY_NOT_FOUND (22)", INVALID)),
    )
    assert groups(*results) == [{"a.1", "a.2", "a.3"}]
    assert titles(*results) == [
        "A request with any of 3 codes is answered INVALID_PARAMETER (29) instead of the code of its failure"
    ]
    right = passed("b", answered("9999", "REQUEST_CODE_NOT_SUPPORTED (3)"))
    assert sorted(groups(*results, right), key=min) == [{"a.1"}, {"a.2"}, {"a.3"}]


@pytest.mark.parametrize(
    ("got", "title"),
    [
        ("no response flag", f"The answer to {ROUTE} lacks the response bit of its flag"),
        ("another opaque", f"The answer to {ROUTE} has another opaque than the request"),
        ("no answer", f"{ROUTE} gets no answer instead of {OK}"),
    ],
)
def test_a_frame_that_is_no_answer_is_not_called_silence(got: str, title: str) -> None:
    assert titles(failed("a", ROUTE, outcome(OK, got))) == [title]


def test_bodies_in_another_encoding_are_one_cause_whatever_was_asked() -> None:
    garbled = Wrong(kind="member", place="body", change="not in UTF-8")
    results = (failed("a.1", ROUTE, garbled), failed("a.2", TOPICS, garbled))
    assert titles(*results) == [f"The body of the answer to {ROUTE} or {TOPICS} is not in UTF-8"]


def test_a_connection_that_stays_open_is_not_something_unsent() -> None:
    asked = failed("a", ROUTE, outcome("closed", "silence"))
    assert asked.failure is not None
    stays = msgspec.structs.replace(asked, failure=msgspec.structs.replace(asked.failure, sent=None))
    assert titles(stays) == ["The server does not close a connection that it should close"]


def test_failures_that_are_never_answered_are_one_cause_whatever_was_asked() -> None:
    results = (
        failed("a.1", REGISTER, outcome(REFUSED, "closed"), "no body"),
        failed("a.2", QUERY, outcome(f"{OK} or {REFUSED}", "closed"), "without the field brokerName"),
        failed("a.3", ROUTE, outcome(REFUSED, "closed")),
        passed("b", answered(REGISTER, OK), answered(QUERY, OK), answered(ROUTE, GONE)),
    )
    assert groups(*results) == [{"a.1", "a.2", "a.3"}]
    assert titles(*results)[0].endswith("closes the connection instead of SYSTEM_ERROR (1)")


def test_a_refusal_of_what_is_to_be_accepted_is_no_matter_of_the_number() -> None:
    assert groups(
        failed("a.1", REGISTER, outcome(REFUSED, INVALID), "no body"),
        failed("a.2", QUERY, outcome(REFUSED, INVALID), "no body"),
        failed("b.1", REGISTER, outcome(OK, INVALID), "body compressed"),
        passed("c", answered(REGISTER, OK)),
    ) == [{"a.1", "a.2"}, {"b.1"}]


def test_what_is_missing_in_every_answer_is_one_cause_whatever_was_special_in_the_request() -> None:
    results = (
        failed("a.1", REGISTER, member("extFields.haServerAddr")),
        failed("a.2", REGISTER, member("extFields.haServerAddr"), "brokerId below 0"),
        failed("a.3", "901 GET_BROKER_MEMBER_GROUP", member("extFields.haServerAddr")),
    )
    assert groups(*results) == [{"a.1", "a.2", "a.3"}]
    assert groups(*results, failed("b", REGISTER, member("extFields.masterAddr"))) == [
        {"a.1", "a.2", "a.3"},
        {"b"},
    ]


def test_what_is_wrong_wherever_a_field_switches_something_on_is_one_cause() -> None:
    zone = "__ZONE_MODE true"
    zones = (
        failed("a.1", ROUTE, member("body.brokerDatas", "fewer"), zone),
        failed("a.2", ROUTE, member("body.topicQueueMappingByBroker"), zone),
    )
    assert titles(*zones) == [f"The answer to {ROUTE} ({zone}) has wrong content in 2 places"]
    assert titles(zones[1]) == [f"The answer to {ROUTE} ({zone}) lacks body.topicQueueMappingByBroker"]
    without = [failed(f"b.{one.case}", ROUTE, one.failure.wrong) for one in zones if one.failure]  # type: ignore[arg-type]
    assert len(groups(*zones, *without)) == 2
    others = [failed(f"c.{n}", ROUTE, member("body.brokerDatas", "more")) for n in range(3)]
    assert groups(*zones, *others) == [{"c.0", "c.1", "c.2"}, {"a.1", "a.2"}]


def test_one_member_that_is_wrong_in_several_answers_is_one_cause() -> None:
    results = (
        failed("a.1", CLUSTER, member("body.brokerAddrTable.*.brokerAddrs.*", "more")),
        failed("a.2", "901 GET_BROKER_MEMBER_GROUP", member("body.brokerMemberGroup.brokerAddrs.*", "more")),
        failed("b", ROUTE, member("body.brokerDatas.*.brokerAddrs.*", "fewer")),
    )
    assert groups(*results) == [{"a.1", "a.2"}, {"b"}]
    assert titles(*results)[0].endswith("or 901 GET_BROKER_MEMBER_GROUP has too much in brokerAddrs.*")


def test_what_is_to_be_silent_and_ends_all_answers_is_said_so() -> None:
    silenced = failed("a.1", REGISTER, outcome("silence", "no answer"), "one-way")
    assert titles(silenced) == [
        "103 REGISTER_BROKER (one-way) should get no answer, and keeps later requests from getting one"
    ]


def test_a_header_that_lacks_members_explains_closed_connections_where_complete_ones_are_answered() -> None:
    short = ("header without language", "header without version")
    results = (
        failed("a.1", TOPICS, outcome(OK, "closed"), *short),
        failed("a.2", TOPICS, outcome(OK, "closed"), *short, "several frames at once"),
        failed("a.3", QUERY, outcome(REFUSED, "closed"), *short),
        passed(
            "b", answered(TOPICS, OK), answered(TOPICS, OK, "several frames at once"), answered(QUERY, OK)
        ),
    )
    assert groups(*results) == [{"a.1", "a.2", "a.3"}]
    assert "header without language, header without version" in titles(*results)[0]


def test_answers_to_what_is_to_be_silent_are_one_cause_whatever_they_are() -> None:
    results = (
        failed("a.1", REGISTER, outcome("silence", OK), "one-way"),
        failed("a.2", QUERY, outcome("silence", REFUSED), "one-way", "no body"),
        passed("b", answered("raw bytes", "silence", "frame truncated"), answered(QUERY, REFUSED, "no body")),
    )
    assert groups(*results) == [{"a.1", "a.2"}]
    assert titles(*results) == [
        "103 REGISTER_BROKER or 322 QUERY_DATA_VERSION (one-way) should get no answer, and is answered"
    ]


def test_a_trait_that_was_answered_elsewhere_is_not_to_blame() -> None:
    """Of two traits the one is blamed that no other outcome contradicts."""
    results = (
        failed("a.1", REGISTER, outcome(OK, INVALID), "one-way", "body compressed"),
        failed("a.2", REGISTER, outcome(OK, INVALID), "one-way", "brokerId below 0"),
        *(passed(f"b.{n}", answered(REGISTER, OK, "one-way"), answered(REGISTER, OK)) for n in range(3)),
    )
    assert groups(*results) == [{"a.1"}, {"a.2"}]


def test_members_that_are_missing_one_at_a_time_are_one_cause_and_named() -> None:
    results = (
        failed("a.1", REGISTER, outcome(OK, INVALID), "body without topicConfigSerializeWrapper.dataVersion"),
        failed("a.2", REGISTER, outcome(OK, INVALID), "body without filterServerList"),
        passed("b", answered(REGISTER, OK)),
    )
    assert groups(*results) == [{"a.1", "a.2"}]
    assert titles(*results) == [
        "103 REGISTER_BROKER (a body without a member: dataVersion, filterServerList) is refused with "
        "INVALID_PARAMETER (29) instead of SUCCESS (0)"
    ]


def test_headers_that_cannot_be_read_are_one_cause_and_what_is_wrong_with_them_is_named() -> None:
    raw, closed = "raw bytes", f"closed or {GONE}"
    json_header, binary = "json malformed", "string length negative"
    results = (
        failed("a.1", raw, outcome("closed", "silence"), json_header),
        failed("a.2", raw, outcome(closed, "silence"), binary),
        passed("b", answered(raw, "closed", "length too large")),
    )
    assert titles(*results) == [
        f"Raw bytes (a header that cannot be read: {json_header}, {binary}) "
        "should close the connection, and does not"
    ]
    sound = [answered(raw, "closed", f"ext {one}") for one in ("overrun", "length too large")]
    assert titles(results[0], passed("b", *sound)) == [
        f"Raw bytes ({json_header}) should close the connection, and does not"
    ]


def test_one_refusal_of_one_request_is_one_cause_whatever_came_before() -> None:
    refused = [
        failed(f"a.{number}", REGISTER, outcome(OK, REFUSED), after=after)
        for number, after in enumerate([(), ("205 WIPE_WRITE_PERM_OF_BROKER",), (UNREGISTER,)])
    ]
    sound = [passed(f"b.{number}", answered(REGISTER, OK)) for number in range(5)]
    assert groups(*refused, *sound) == [{"a.0", "a.1", "a.2"}]


def test_an_ordinary_request_that_fails_alike_acquits_the_trait() -> None:
    results = (
        failed("a.1", REGISTER, outcome(OK, INVALID)),
        failed("a.2", REGISTER, outcome(OK, INVALID)),
        failed("a.3", REGISTER, outcome(OK, INVALID), "brokerId below 0"),
    )
    assert groups(*results) == [{"a.1", "a.2", "a.3"}]
    assert titles(*results) == [
        "103 REGISTER_BROKER is refused with INVALID_PARAMETER (29) instead of SUCCESS (0)"
    ]


def test_few_exceptions_do_not_split_a_cause() -> None:
    many = [failed(f"a.{n}", REGISTER, outcome(OK, INVALID)) for n in range(12)]
    assert len(groups(*many, passed("b.1", answered(REGISTER, OK)))) == 1


def test_what_stays_after_it_was_unregistered_is_one_cause_in_all_answers() -> None:
    gone = (REGISTER, UNREGISTER)
    results = (
        failed("a.1", ROUTE, outcome(GONE, OK), after=gone),
        failed("a.2", TOPICS, member("body.topicList[]", "more"), after=gone),
        failed("a.3", CLUSTER, member("body.brokerAddrTable.*", "more"), after=gone),
        passed("b", answered(ROUTE, GONE), answered(ROUTE, OK)),
    )
    assert groups(*results) == [{"a.1", "a.2", "a.3"}]
    (title,) = titles(*results)
    assert title.endswith("still has what should be gone after 104 UNREGISTER_BROKER")


def test_an_update_without_effect_is_one_cause_in_whatever_shows_it() -> None:
    update = "318 UPDATE_NAMESRV_CONFIG"
    results = (
        failed("a.1", "319 GET_NAMESRV_CONFIG", member("body.clusterTest", "different"), after=(update,)),
        failed("a.2", "319 GET_NAMESRV_CONFIG", member("body.productEnvName", "different"), after=(update,)),
        failed("a.3", ROUTE, outcome(REFUSED, GONE), after=(REGISTER, update)),
        passed("b", answered(ROUTE, GONE)),
    )
    assert groups(*results) == [{"a.1", "a.2", "a.3"}]
    assert titles(*results) == [
        "Answers after 318 UPDATE_NAMESRV_CONFIG are not what it should have made them"
    ]


def test_an_update_is_to_blame_for_no_more_than_what_the_failures_show_themselves() -> None:
    update = ("318 UPDATE_NAMESRV_CONFIG",)
    unknown = outcome(OK, "211")
    assert groups(
        failed("a.1", "224 GET_TOPICS_BY_CLUSTER", unknown, after=update),
        failed("a.2", "224 GET_TOPICS_BY_CLUSTER", unknown),
        failed("b", "319 GET_NAMESRV_CONFIG", member("body.productEnvName", "different"), after=update),
    ) == [{"a.1", "a.2"}, {"b"}]


def test_two_wrong_contents_with_another_history_are_two_causes() -> None:
    one = failed("a", ROUTE, outcome(OK, GONE), after=("217 REGISTER_TOPIC_IN_NAMESRV",))
    other = failed("b", ROUTE, outcome(OK, GONE), after=(REGISTER, "time"))
    assert groups(one, other) == [{"a"}, {"b"}]


def test_what_stays_is_one_cause_whichever_request_shows_it_and_whatever_should_have_removed_it() -> None:
    topics = (
        failed("a.1", ROUTE, outcome(GONE, OK), after=(REGISTER, UNREGISTER)),
        failed("a.2", TOPICS, member("body.topicList[]", "more"), after=(REGISTER, "time")),
        failed("a.3", ROUTE, member("body.queueDatas.*", "more"), after=(REGISTER, "closed connection")),
    )
    clusters = (
        failed("b.1", CLUSTER, member("body.clusterAddrTable[]", "more"), after=(REGISTER, UNREGISTER)),
        failed("b.2", CLUSTER, member("body.clusterAddrTable.*[]", "more"), after=(REGISTER, "time")),
        failed("b.3", "304 GET_SYSTEM_TOPIC_LIST_FROM_NS", member("body.topicList[]", "more")),
    )
    assert groups(*topics, *clusters) == [{"a.1", "a.2", "a.3"}, {"b.1", "b.2", "b.3"}]
    assert titles(*topics) == [f"The answer to {ROUTE} or {TOPICS} still has topics that should be gone"]


def test_whatever_stays_after_one_change_is_one_cause() -> None:
    places = ("body.queueDatas.*", "body.brokerDatas.*", "body.filterServerTable.*")
    kept = [
        failed(f"a.{n}", ROUTE, member(place, "more"), after=("time", "restart"))
        for n, place in enumerate(places)
    ]
    assert groups(*kept) == [{"a.0", "a.1", "a.2"}]


def test_too_much_and_too_little_are_two_causes_and_a_registration_keeps_nothing_alive() -> None:
    assert groups(
        failed("a", ROUTE, outcome(GONE, OK), after=(REGISTER, "time")),
        failed("b", ROUTE, outcome(OK, GONE), after=(REGISTER, "time")),
    ) == [{"a"}, {"b"}]
    assert groups(
        failed("a", ROUTE, member("body.brokerDatas.*", "more"), after=(REGISTER,)),
        failed("b", TOPICS, member("body.topicList[]", "more"), after=(REGISTER,)),
    ) == [{"a"}, {"b"}]


def test_the_order_is_by_what_a_cause_holds_back() -> None:
    causes = explained(made.several()).causes
    assert [(one.fails, one.blocks) for one in causes] == [(1, 4), (4, 0), (2, 0), (2, 0)]
    assert causes[0].statement == "ns.registration.compressed"
    assert explained(made.several()).sentence == (
        "4 causes explain 9 failures and 4 blocked cases. Start with the first."
    )


def test_an_essential_cause_comes_before_one_that_holds_back_more() -> None:
    many = [
        msgspec.structs.replace(failed(f"a.{n}", REGISTER, member("extFields.x")), class_="exactness")
        for n in range(5)
    ]
    found = explained(run_of(*many, failed("b", ROUTE, member("body", "absent")))).causes
    assert [(one.class_, one.fails) for one in found] == [("essential", 1), ("exactness", 5)]
    seldom = msgspec.structs.replace(many[0], case="c", class_="robustness")
    assert [one.class_ for one in explained(run_of(*many, seldom)).causes] == ["robustness"]


def test_what_is_blocked_by_a_statement_that_was_not_run_is_a_cause_too() -> None:
    seen = failed("setup", REGISTER, outcome(OK, INVALID))
    waiting = [
        msgspec.structs.replace(
            made.blocked(name, "ns.registration.plain"), failure=seen.failure, reason="it builds on it"
        )
        for name in ("a", "b")
    ]
    (cause,) = explained(run_of(*waiting)).causes
    assert (cause.fails, cause.blocks, cause.blocked) == (0, 2, ("a", "b"))
    assert "103 REGISTER_BROKER is refused" in cause.title


def test_a_blocked_case_waits_for_the_cause_whose_failure_it_saw() -> None:
    seen = failed("owner", REGISTER, outcome(OK, INVALID), "body compressed")
    alike = msgspec.structs.replace(made.blocked("a", "ns.elsewhere"), failure=seen.failure)
    causes = explained(run_of(seen, passed("b", answered(REGISTER, OK)), alike)).causes
    assert [(one.cases, one.blocked) for one in causes] == [(("owner",), ("a",))]


def test_a_target_that_died_is_a_cause_with_its_last_words() -> None:
    died = msgspec.structs.replace(
        passed("endurance.lives"), verdict=Verdict.FAIL, reason="the target had gone in errors.bad-id: panic"
    )
    (cause,) = explained(run_of(died)).causes
    assert cause.title == "ns.endurance.lives does not hold"
    assert cause.actual == "the target had gone in errors.bad-id: panic"


@pytest.mark.parametrize("seen", [("security.deep",), ("security.deep", "kv.long"), ("kv.long",)])
def test_that_the_server_ended_in_a_case_belongs_to_the_cause_of_that_case(seen: tuple[str, ...]) -> None:
    ended = msgspec.structs.replace(
        passed("endurance.lives"), verdict=Verdict.FAIL, reason="it had gone", ended_in=seen
    )
    case = failed("security.deep", QUERY, outcome(REFUSED, "no answer"), "a large body")
    causes = explained(run_of(case, ended)).causes
    if seen == ("security.deep",):
        assert [one.cases for one in causes] == [("security.deep", "endurance.lives")]
        assert causes[0].title.startswith(QUERY)
    else:
        assert [one.cases for one in causes] == [("security.deep",), ("endurance.lives",)]
        assert causes[1].title == f"The server does not live through {', '.join(seen)}"


def test_a_case_that_ends_the_server_alone_is_a_cause_with_the_last_case() -> None:
    alone, last = (
        msgspec.structs.replace(
            passed(name), verdict=Verdict.FAIL, reason="it had gone", ended_in=("security.deep",)
        )
        for name in ("security.deep", "endurance.lives")
    )
    (cause,) = explained(run_of(alone, last)).causes
    assert cause.cases == ("security.deep", "endurance.lives")
    assert cause.title == "The server does not live through security.deep"


def test_known_failures_and_what_is_allowed_have_no_cause() -> None:
    for verdict in (Verdict.XFAIL, Verdict.DEVIATES, Verdict.QUIRK, Verdict.FLAKY):
        one = msgspec.structs.replace(failed("a", ROUTE, outcome(OK, GONE)), verdict=verdict)
        assert explained(run_of(one)).sentence == ""


def test_the_exchange_shown_has_the_plainest_request() -> None:
    (cause,) = explained(
        run_of(
            failed("a.special", REGISTER, member("extFields.haServerAddr"), "one-way", "brokerId empty"),
            failed("b.plain", REGISTER, member("extFields.haServerAddr")),
        )
    ).causes
    assert cause.shown == "b.plain"
    assert cause.again.endswith("--select ns.b.plain")
