"""A stamped response has the bytes of an encoded one."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from harness.wire import Command, encode
from reference_impl.remoting.stamp import Stamp

OPAQUES = st.integers(-(2**31), 2**31 - 1) | st.sampled_from([0, -1, 9, 10, -(2**31), 2**31 - 1])


@given(OPAQUES, OPAQUES, st.binary(max_size=20) | st.just(b'"opaque":1,'))
def test_stamping_is_encoding(first: int, second: int, body: bytes) -> None:
    def frame(opaque: int) -> bytes:
        return encode(Command(code=0, opaque=opaque, flag=1, version=479, body=body))

    assert Stamp(frame(first)).frame(second) == frame(second)
