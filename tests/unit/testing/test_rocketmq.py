"""A RocketMQ for tests: it starts, is found, stops, and says what is wrong with its options."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from typing import Any

import pytest

from harness.testing import OptionError, RocketMQ, RocketMQError


def run(script: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-uc", script]
    return subprocess.run(command, check=False, capture_output=True, text=True, timeout=60)


def test_a_cluster_lives_as_long_as_the_block() -> None:
    with RocketMQ(masters=2, slaves=1, nameservers=2) as rocketmq:
        addresses = rocketmq.namesrv.split(";")
        names = rocketmq._call(lambda cluster: [broker.name for broker in cluster.brokers])
        for address in addresses:
            host, port = address.split(":")
            socket.create_connection((host, int(port))).close()
    assert names == ["broker-a-0", "broker-a-1", "broker-b-0", "broker-b-1"]
    for address in addresses:
        host, port = address.split(":")
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection((host, int(port)))


def test_a_block_that_raises_ends_it_too() -> None:
    with pytest.raises(ZeroDivisionError), RocketMQ() as rocketmq:
        raise ZeroDivisionError
    with pytest.raises(RocketMQError, match="does not run"):
        assert rocketmq.namesrv


def test_what_is_raised_in_the_loop_is_raised_in_the_test() -> None:
    def fail(cluster: object) -> None:
        raise KeyError("x")

    with RocketMQ() as rocketmq, pytest.raises(KeyError):
        rocketmq._call(fail)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"profile": "6.0"}, "profile='6.0': expected one of '4.9', '5.3'"),
        ({"masters": 0}, "masters 0: expected a number from 1 to 26"),
        ({"masters": "2"}, "masters='2': expected a whole number"),
        ({"slaves": True}, "slaves=True: expected a whole number"),
        ({"nameservers": 27}, "nameservers 27: expected a number from 1 to 26"),
        ({"port": 70_000}, "port=70000: expected a number from 0"),
        ({"topics": "orders"}, "topics='orders': expected several names"),
        ({"topics": {"orders": 0}}, "queues=0 of topic 'orders': expected a number from 1"),
        ({"topics": [1]}, "topics: expected names, got 1"),
        ({"groups": "shop"}, "groups='shop': expected several names"),
        ({"config": {"brokerName": "x"}}, "'brokerName' cannot be set"),
        ({"config": {"maxMesageSize": 5}}, "did you mean 'maxMessageSize'?"),
        ({"config": {"maxMessageSize": "many"}}, "maxMessageSize=many: expected a whole number"),
    ],
)
def test_an_option_that_cannot_be_used_is_refused_at_once(options: dict[str, Any], said: str) -> None:
    with pytest.raises(OptionError) as raised:
        RocketMQ(**options)
    assert said in str(raised.value)


def test_a_port_in_use_is_one_sentence() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(RocketMQError, match=f"cannot listen on 127.0.0.1:{port}"):
            RocketMQ(port=port).start()


def test_a_second_start_is_refused_and_a_second_stop_does_nothing() -> None:
    rocketmq = RocketMQ().start()
    with pytest.raises(RocketMQError, match="runs already"):
        rocketmq.start()
    rocketmq.stop()
    rocketmq.stop()


def test_a_process_that_forgets_to_stop_it_ends() -> None:
    script = "from harness.testing import RocketMQ\nprint(RocketMQ().start().namesrv)\nraise SystemExit(7)\n"
    done = run(script)
    assert (done.returncode, done.stderr) == (7, "")
    assert done.stdout.startswith("127.0.0.1:")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="only POSIX forks")
def test_a_forked_process_has_no_cluster() -> None:
    script = (
        "import os\n"
        "from harness.testing import RocketMQ, RocketMQError\n"
        "with RocketMQ() as rocketmq:\n"
        "    if (child := os.fork()) == 0:\n"
        "        try:\n"
        "            rocketmq._call(len)\n"
        "        except RocketMQError as error:\n"
        "            print(error)\n"
        "        rocketmq.stop()\n"
        "        os._exit(0)\n"
        "    os.waitpid(child, 0)\n"
    )
    done = run(script)
    assert "was used in process" in done.stdout, done.stderr
