"""The file that keeps KV pairs: when it is written, and what it may contain."""

from __future__ import annotations

import pytest

from reference_impl.nameserver import KvError

from .driver import Driver


def test_kv_is_persisted_before_the_answer_and_survives(ns: Driver) -> None:
    ns.call(100, {"namespace": "n", "key": "k", "value": "v"})
    assert ns.persisted == [("kvConfigPath", b'{"configTable":{"n":{"k":"v"}}}')]
    again = Driver(ns.profile, kv=ns.persisted[-1][1])
    assert again.call(101, {"namespace": "n", "key": "k"}).ext == {"value": "v"}


@pytest.mark.parametrize("stored", [None, b"", b" \n", b"null", b'{"configTable":{}}'])
def test_an_empty_kv_file(stored: bytes | None) -> None:
    assert Driver("5.3", kv=stored).call(219, {"namespace": "n"}).code == 22


@pytest.mark.parametrize("stored", [b"{", b"[]", b"{}", b'{"configTable":[]}', b'{"configTable":{"n":1}}'])
def test_a_file_that_is_no_kv_file_is_refused(stored: bytes) -> None:
    with pytest.raises(KvError, match="expected"):
        Driver("5.3", kv=stored)
