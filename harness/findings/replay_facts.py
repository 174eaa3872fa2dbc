"""The fact that decides a finding, and whether an answer of another server shows it.

A fact is what is wrong about an answer, and nothing else: that a code says refusal, that an address is
missing, that a permission is another one. How the rest is written decides nothing, nor what else is in it.
The script of a finding holds a copy of this file: Python 3.8, standard library.
"""

from __future__ import annotations

import re
from typing import Any, Dict, Optional, Tuple  # noqa: UP035  (Python 3.8)

Said = Dict[str, Any]  # noqa: UP006
"""What an answer says, as `harness.findings.replay_answers` reads it."""


def shows(decides: dict[str, Any], old: Said, new: Said) -> Tuple[bool, str]:  # noqa: UP006
    """Whether a new answer shows what an old one decided by, and both facts in words."""
    if "fields" in decides:
        fields = decides["fields"]
        then, now = ({name: said.get(name) for name in fields if name in said} for said in (old, new))
        return then == now, ""
    if old.get("outcome") != new.get("outcome"):
        return False, f"an answer, now {new.get('outcome', 'an answer')}"
    aspect, expected = decides["aspect"], decides["expected"]
    if aspect in ("code", "failure code"):
        return _shows_code(expected, old["code"], new["code"], is_any=aspect != "code")
    value = fact_of(decides, new)
    words = f"{aspect} {decides['name']}".strip() + f": expected {expected}, now {_words(value)}"
    if aspect not in ("remark", "body", "answer") and old["code"] != new["code"]:
        return False, f"{words} (code {new['code']} instead of {old['code']})"
    if aspect == "remark" and decides["presence"] == "other":
        return _plain(value or "") != _plain(expected), words
    if decides["presence"] == "missing":
        return value is None, words
    if decides["presence"] == "surplus":
        return value is not None, words
    return value is not None and _plain(value) != _plain(expected), words


def is_alike(old: Said, new: Said) -> bool:
    """Whether a step on the way to the failure came to the same: success, refusal, an end, silence."""
    return _class(old) == _class(new)


def _class(said: Said) -> str:
    if "code" not in said:
        return str(said.get("outcome", "bytes"))
    return "success" if said["code"] == 0 else "refusal"


def _shows_code(expected: str, old: int, new: int, *, is_any: bool) -> Tuple[bool, str]:  # noqa: UP006
    must = int(re.sub(r"[^\d-]", "", expected) or 0)
    words = f"code: expected {must}, then {old}, now {new}"
    if is_any:
        return new not in (0, must), words
    if must == 0 and old not in (17, 22):
        return new not in (0, 17, 22), words  # refused then, refused now: the number says little
    return new == old, words


def _words(value: Any) -> str:
    text = "nothing" if value in (None, {}, "") else str(value)
    return text if len(text) <= 200 else text[:200] + " …"


def _plain(value: Any) -> str:
    """A value as the judge writes it: an address without its id, numbers without brackets."""
    text = str(value)
    return " ".join(re.findall(r"[^\s,()'\[\]]+", re.sub(r" as -?\d+$", "", text)))


# --- what an answer says of a thing -------------------------------------------------------------------------


def fact_of(decides: dict[str, Any], said: Said) -> Optional[Any]:  # noqa: UP045
    """What an answer says of the thing that decides; None: nothing."""
    aspect, name, body = decides["aspect"], decides["name"], said.get("body")
    if aspect == "remark":
        return said.get("remark") or None
    if aspect == "answer":
        return said.get("code")
    if aspect == "body":
        return (said.get("dialect") or body) if decides["presence"] == "other" else body
    if aspect in ("setting", "pair", "table"):
        return _of_a_table(aspect, name, body)
    if not isinstance(body, dict):
        body = {}
    if aspect in ("queues", "queue numbers", "permission", "flag"):
        return _of_queues(aspect, name, body)
    if aspect in ("broker", "address", "address twice", "cluster", "acting", "zone", "name"):
        return _of_a_broker(aspect, name, decides.get("id"), body)
    if aspect in ("listed", "twice"):
        times = sum(one == name for one in body.get("topicList") or ())
        return times if times > (aspect == "twice") else None
    if aspect == "clusters":
        return _of_clusters(name, body)
    return _of_a_member(aspect, name, said, body)


def _of_a_member(aspect: str, name: str, said: Said, body: Said) -> Any:
    if aspect == "filters":
        return (body.get("filterServerTable") or {}).get(name)
    if aspect == "mapping":
        found = (body.get("topicQueueMappingByBroker") or {}).get(name)
        return found.get("epoch") if isinstance(found, dict) else found
    if aspect == "order":
        return body.get("orderTopicConf")
    if aspect == "brokerAddr":
        return body.get("brokerAddr") or None
    if aspect == "version":
        return tuple(body.get(one, 0) for one in ("counter", "timestamp", "stateVersion")) if body else None
    return (said.get("ext") or {}).get(aspect)


def _of_a_table(aspect: str, name: str, body: Any) -> Any:
    if not isinstance(body, dict):
        return None
    table = body if aspect == "setting" else body.get("table")
    return table if aspect == "table" or not isinstance(table, dict) else table.get(name)


def _of_queues(aspect: str, name: str, body: Said) -> Any:
    for one in body.get("queueDatas") or ():
        if one.get("brokerName") == name:
            numbers = [one.get(key) for key in ("readQueueNums", "writeQueueNums", "perm", "topicSysFlag")]
            return {"permission": numbers[2], "flag": numbers[3]}.get(aspect, tuple(numbers))
    return None


def _of_a_broker(aspect: str, name: str, number: Any, body: Said) -> Any:
    listed = list(body.get("brokerDatas") or ()) + list((body.get("brokerAddrTable") or {}).values())
    broker = next((one for one in [*listed, body] if one.get("brokerName") == name), None)
    if broker is None:
        return None
    addresses = broker.get("brokerAddrs") or {}
    if aspect == "broker":
        return addresses
    if aspect in ("address", "address twice"):
        found = addresses.get(str(number))
        return found if aspect == "address" or list(addresses.values()).count(found) > 1 else None
    members = {"cluster": "cluster", "acting": "enableActingMaster", "zone": "zoneName", "name": "brokerName"}
    return broker.get(members[aspect])


def _of_clusters(name: str, body: Said) -> Any:
    table = body.get("clusterAddrTable") or {}
    found = sorted(cluster for cluster, members in table.items() if name in members)
    if found:
        return "in " + ", ".join(found)
    return "one without names" if table.get(name) == [] else None
