"""What to leave aside where answers of two servers, or of two runs, are compared.

It is data, so that the stand-alone script of a finding can carry it.
"""

from __future__ import annotations

from typing import Any, Final

from harness.wire.codes import RequestCode
from harness.wire.requests import REQUESTS
from harness.wire.view import BARE_NUMBER

HOST_SETTINGS: Final = (
    r"rocketmqHome|kvConfigPath|configStorePath|listenPort|bindAddress|.*[Tt]hread.*|.*[Ss]emaphore.*|.*Buf.*|"
    r".*Backlog|.*Epoll.*|.*WaterMark|.*SocketBufferSize|productEnvName|.*Worker.*|.*Capacity|"
    r"enableControllerInNamesrv|clusterTest|configBlackList"
)
"""Settings that say how or where a server runs, not what it answers."""

_EXCEPTION: Final = r"\b[\w.]*(Exception|Error)\b|^java\."
_STORING: Final = (
    RequestCode.SEND_MESSAGE,
    RequestCode.SEND_MESSAGE_V2,
    RequestCode.SEND_BATCH_MESSAGE,
)


def comparison_rules(made_name: str) -> dict[str, Any]:
    """Patterns, and codes of requests, as JSON values; ``made_name`` is how names end that a harness made."""
    return {
        "made_name": made_name,
        "bare_number": BARE_NUMBER,
        "exception": _EXCEPTION,
        "host_settings": HOST_SETTINGS,
        "storing": [int(code) for code in _STORING],
        "messages": _answered_by("messages"),
        "settings": [int(RequestCode.GET_NAMESRV_CONFIG)],
        "clusters": [int(RequestCode.GET_BROKER_CLUSTER_INFO)],
        "topics": _answered_by("TopicList"),
        "any_address": [int(RequestCode.GET_SYSTEM_TOPIC_LIST_FROM_NS)],
    }


def _answered_by(body: str) -> list[int]:
    return sorted(int(code) for code, form in REQUESTS.items() if form.response_body == body)
