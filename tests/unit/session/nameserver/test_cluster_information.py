"""Cluster information that changes while it is written is asked for again, and no other refusal is."""

from __future__ import annotations

import pytest

from harness.wire import FLAG_RESPONSE, Command, encode
from session.helpers import Code, Server, answering, session, success

CAUGHT = "java.util.ConcurrentModificationException, java.util.HashMap$HashIterator.nextNode"
WRAPPED = (
    "com.alibaba.fastjson.JSONException: write javaBean error, fastjson version 1.2.61, class "
    "org.apache.rocketmq.common.protocol.body.ClusterInfo, com.alibaba.fastjson.serializer."
    "JavaBeanSerializer.write(JavaBeanSerializer.java:530)"
)


@pytest.mark.parametrize(
    ("remark", "code"), [(CAUGHT, 0), (WRAPPED, 0), ("java.lang.NullPointerException", 1), (None, 1)]
)
def test_only_what_java_says_of_a_change_is_excused(remark: str | None, code: int) -> None:
    refused: list[int] = []

    def answer(request: Command) -> list[bytes]:
        if request.code == 106 and not refused:
            refused.append(request.opaque)
            return [encode(Command(code=1, opaque=request.opaque, flag=FLAG_RESPONSE, remark=remark))]
        return [success(request, b"{}")]

    server = Server(answering(answer))
    try:
        with session(server) as ns:
            ns.cluster() >> Code(code)
    finally:
        server.stop()
    assert len(refused) == 1
