"""One built-in instance serves several threads, as `check` uses it for cases that wait together."""

import sys
import threading
from collections.abc import Iterator

import pytest

from harness.session import NameServerSession
from harness.targets import parse


@pytest.fixture
def _threads_change_often() -> Iterator[None]:
    usual = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(usual)


@pytest.mark.usefixtures("_threads_change_often")
def test_threads_that_wait_and_threads_that_ask_do_not_block_each_other() -> None:
    instance = parse("builtin:5.3").start()

    def one_case() -> None:
        with NameServerSession(instance, "5.3") as ns:
            for _ in range(40):
                ns.cluster().outcome()
                ns.pause(0.1)

    threads = [threading.Thread(target=one_case, daemon=True) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=20)
    assert not any(thread.is_alive() for thread in threads)
    instance.stop()
