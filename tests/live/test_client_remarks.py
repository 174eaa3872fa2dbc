"""Remarks on Apache's own clients, which start, work, join and leave groups, and shut down: none on Java's,
those that are known on the others.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from clusters import HASTE, UNREACHABLE, VERSIONS, missing
from peers import FIXTURES, JVM
from test_cpp_client import sent_and_consumed

from harness.targets import TargetError, maven
from harness.testing import RocketMQ
from harness.testing.waiting import wait_until
from harness.wire import RequestCode

pytestmark = [pytest.mark.live, pytest.mark.soak]  # minutes, in which clients live as they do

LASTS = 140
"""Seconds of their work: more than a Broker takes to forget a client."""
WITHIN = LASTS + 160
PATIENCE = 20
TOPIC = "steady"
POPS = {"defaultMessageRequestMode": "POP"}
"""Consumers that let the Broker share out queues pop."""
ASKED = {
    RequestCode.PULL_MESSAGE,
    RequestCode.SEND_MESSAGE_V2,
    RequestCode.UPDATE_CONSUMER_OFFSET,
    RequestCode.HEART_BEAT,
    RequestCode.UNREGISTER_CLIENT,
    RequestCode.CONSUMER_SEND_MSG_BACK,
    RequestCode.END_TRANSACTION,
    RequestCode.GET_CONSUMER_LIST_BY_GROUP,
    RequestCode.LOCK_BATCH_MQ,
    RequestCode.UNLOCK_BATCH_MQ,
    RequestCode.GET_ROUTEINFO_BY_TOPIC,
}
ASKED_IN_5 = {
    RequestCode.LITE_PULL_MESSAGE,
    RequestCode.POP_MESSAGE,
    RequestCode.ACK_MESSAGE,
    RequestCode.CHANGE_MESSAGE_INVISIBLETIME,
    RequestCode.QUERY_ASSIGNMENT,
}
PUSHED = {RequestCode.CHECK_TRANSACTION_STATE, RequestCode.NOTIFY_CONSUMER_IDS_CHANGED}
"""What must have been said, or else the test proves nothing."""
OF_CPP = {
    "cl.requests.frame-has-nothing-odd",
    "cl.consuming.lock-is-given-up-at-the-end",
    "cl.consuming.returned-message-names-its-original",
}
"""What the C++ library is known to break."""
ASKED_BY_GO = ASKED - {RequestCode.SEND_MESSAGE_V2, RequestCode.UNREGISTER_CLIENT} | {
    RequestCode.SEND_MESSAGE
}
GO_CLIENTS = {"producer", "transactional", "steady-1", "steady-2", "ordered-1", "ordered-2"}
OF_GO = {"cl.membership.unregistration-precedes-the-end"}
"""What Go's library, 2.1.2, is known to break: its shutdown sends nothing."""


@pytest.mark.parametrize("version", VERSIONS)
def test_apaches_clients_get_no_remark(version: str, tmp_path: Path) -> None:
    is_5 = not version.startswith("4.")
    try:
        classpath = maven.classpath(version, ["rocketmq-tools"])
    except TargetError as problem:
        missing(problem)
    config = HASTE | (POPS if is_5 else {})
    with RocketMQ(profile=VERSIONS[version], masters=2, topics=[TOPIC], config=config) as rocketmq:
        program = str(FIXTURES / "java" / "SteadyClients.java")
        java = ["java", *JVM[:4], f"-Duser.home={tmp_path}", "-cp", classpath]
        done = subprocess.run(
            [*java, program, rocketmq.namesrv, str(LASTS), TOPIC],
            capture_output=True,
            text=True,
            timeout=WITHIN,
            check=False,
        )
        assert "done" in done.stdout, done.stderr[-2000:]
        rocketmq.assert_no_client_remarks()
        asked = {one.code for one in rocketmq.requests()}
        pushed = {one.code for one in rocketmq.requests(of_servers=True)}
    assert asked >= ASKED | (ASKED_IN_5 if is_5 else set())
    assert pushed >= PUSHED


def test_the_cpp_client_gets_the_remarks_that_are_known(tmp_path: Path) -> None:
    with RocketMQ(masters=2) as rocketmq:
        sent_and_consumed(rocketmq.namesrv, tmp_path, messages=40)
        assert {one.statement for one in rocketmq.client_remarks()} == OF_CPP


def test_the_go_client_gets_the_remarks_that_are_known(tmp_path: Path) -> None:
    if shutil.which("go") is None:
        missing(TargetError(expected="go", got="none in PATH", do="install Go, 1.21 or newer"))
    project = tmp_path / "project"
    shutil.copytree(FIXTURES / "go", project)
    built = subprocess.run(
        ["sh", "-ec", "go mod tidy && go build -o steady ."],
        cwd=project,
        capture_output=True,
        text=True,
        timeout=WITHIN,
        check=False,
    )
    if found := UNREACHABLE.search(built.stderr):
        missing(TargetError(expected="Go modules", got=found[0][:200], do="connect this machine"))
    assert built.returncode == 0, built.stderr[-2000:]
    with RocketMQ(masters=2, topics=[TOPIC], config=HASTE) as rocketmq:
        done = subprocess.run(
            [project / "steady", rocketmq.namesrv, str(LASTS), TOPIC],
            capture_output=True,
            text=True,
            timeout=WITHIN,
            check=False,
        )
        assert "done" in done.stdout, done.stderr[-2000:]
        assert wait_until(lambda: not rocketmq.clients(), PATIENCE)
        remarks = rocketmq.client_remarks()
        asked = {one.code for one in rocketmq.requests()}
        pushed = {one.code for one in rocketmq.requests(of_servers=True)}
    assert {one.statement for one in remarks} == OF_GO, "\n\n".join(map(str, remarks))
    assert {one.client.partition("@")[2] for one in remarks} == GO_CLIENTS
    assert asked >= ASKED_BY_GO
    assert pushed >= PUSHED
