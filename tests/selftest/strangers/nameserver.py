"""A stranger's NameServer: written from the rendered catalogue, and wrong in ways that are chosen by name.

python nameserver.py --port PORT [--kv FILE] [--fault NAME]…

It shares no code with the harness or the reference, and uses the standard library only.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import re
import socket
import struct
import threading
import time
import zlib

from frames import (
    RefusalError,
    binary_header,
    decompressed,
    dumped,
    encoded,
    json_header,
    need,
    parse,
    plain,
    short,
)
from table import Table, keep_zone

LEASE, SCAN = 120.0, 5.0
FAULTS = {
    "no-322": "QUERY_DATA_VERSION (322) is not implemented",
    "error-29": "every refusal has code 29",
    "strict-body": "a registration body that lacks a member of 5.x is refused",
    "no-ha-address": "the answer to a slave lacks haServerAddr",
    "perm-7": "routes show each permission with bit 0 set",
    "silent-unknown": "a request of an unknown code is not answered",
    "kv-forgets": "the KV table is empty after a restart",
    "late-unregister": "an unregistration takes effect after 3 seconds",
    "ext-without-quotes": "numbers and booleans in extFields are no JSON strings",
    "first-of-a-read": "of several frames that one read returns, the first is served",
    "length-counts-itself": "the length word of an answer counts its own 4 bytes",
}


class FirstOfARead:
    """Reads a frame, and loses what came behind it."""

    def __init__(self, peer: socket.socket) -> None:
        self.peer, self.left = peer, b""

    def read(self, size: int) -> bytes:
        if size == 4:
            self.left = b""
        while len(self.left) < size:
            came = self.peer.recv(65536)
            if not came:
                return b""
            self.left += came
        found, self.left = self.left[:size], self.left[size:]
        return found


class Server:
    def __init__(self, kv: pathlib.Path | None, faults: set[str]) -> None:
        self.lock = threading.RLock()
        self.faults = faults
        self.table = Table(faults)
        self.kv_file = kv
        self.kv: dict[str, dict[str, str | None]] = {}
        self.config = {
            "orderMessageEnable": "false",
            "supportActingMaster": "false",
            "notifyMinBrokerIdChanged": "false",
            "enableAllTopicList": "true",
            "enableTopicList": "true",
            "deleteTopicWithBrokerRegistration": "false",
            "returnOrderTopicConfigToBroker": "true",
            "clusterTest": "false",
            "needWaitForService": "false",
            "waitSecondsForService": "45",
            "listenPort": "0",
        }
        if kv is not None and kv.exists() and "kv-forgets" not in faults:
            self.kv = json.loads(kv.read_text(encoding="utf-8"))["configTable"]

    # --- requests -------------------------------------------------------------------------------------------

    def answer(self, code: int, ext: dict, body: bytes, peer: object, version: int) -> tuple[dict, bytes]:
        handler = getattr(self, f"on_{code}", None)
        if handler is None or (code == 322 and "no-322" in self.faults):
            if "silent-unknown" in self.faults:
                raise TimeoutError
            raise RefusalError(3, f" request type {code} not supported")
        with self.lock:
            return handler(ext, body, peer, version)

    def on_100(self, ext: dict, *_: object) -> tuple[dict, bytes]:
        namespace, key = need(ext, "namespace", "key")
        self.kv.setdefault(namespace, {})[key] = ext.get("value")
        self.save()
        return {}, b""

    def on_101(self, ext: dict, *_: object) -> tuple[dict, bytes]:
        namespace, key = ext.get("namespace"), ext.get("key")
        value = self.kv.get(namespace, {}).get(key)
        if value is None:
            raise RefusalError(22, f"No config item, Namespace: {namespace} Key: {key}")
        return {"value": value}, b""

    def on_102(self, ext: dict, *_: object) -> tuple[dict, bytes]:
        if ext.get("namespace") in self.kv:
            self.kv[ext["namespace"]].pop(ext.get("key"), None)
        self.save()
        return {}, b""

    def on_219(self, ext: dict, *_: object) -> tuple[dict, bytes]:
        table = self.kv.get(ext.get("namespace"))
        if table is None:
            raise RefusalError(22, f"No config item, Namespace: {ext.get('namespace')}")
        return {}, dumped({"table": {key: value for key, value in table.items() if value is not None}})

    def save(self) -> None:
        if self.kv_file is not None:
            self.kv_file.write_text(json.dumps({"configTable": self.kv}), encoding="utf-8")

    def on_103(self, ext: dict, body: bytes, peer: object, version: int) -> tuple[dict, bytes]:
        need(ext, "clusterName", "brokerName", "brokerAddr", number="brokerId")
        crc = short(ext.get("bodyCrc32"))
        if crc and zlib.crc32(body) & 0x7FFFFFFF != crc:
            raise RefusalError(1, "crc32 not match")
        if body and ext.get("compressed", "false").lower() == "true":
            try:
                inflating = zlib.decompressobj()
                raw = inflating.decompress(body, 64 * 1024 * 1024)
            except zlib.error as problem:
                raise RefusalError(1, str(problem)) from None
            if not inflating.eof:
                raise RefusalError(1, "the compressed body is too large, or cut short")
            parsed, filters = decompressed(raw)
        elif body:
            parsed, filters = plain(body, version)
        else:
            parsed, filters = {}, []
        is_whole = "mappingDataVersion" in parsed and "topicQueueMappingInfoMap" in parsed
        if "strict-body" in self.faults and body and not is_whole:
            raise RefusalError(1, "Request body is invalid")
        master, ha = self.table.register(ext, parsed, filters, peer)
        answer = {}
        if master:
            answer = {"masterAddr": master, "haServerAddr": ha}
            if "no-ha-address" in self.faults:
                del answer["haServerAddr"]
        orders = self.kv.get("ORDER_TOPIC_CONFIG")
        if orders is None or self.config["returnOrderTopicConfigToBroker"] != "true":
            return answer, b""
        return answer, dumped({"table": orders})

    def on_104(self, ext: dict, *_: object) -> tuple[dict, bytes]:
        cluster, name, address = need(ext, "clusterName", "brokerName", "brokerAddr", number="brokerId")

        def now() -> None:
            with self.lock:
                self.table.unregister(cluster, address, name, 0)

        if "late-unregister" in self.faults:
            threading.Timer(3, now).start()
        else:
            now()
        return {}, b""

    def on_105(self, ext: dict, _: bytes, __: object, version: int) -> tuple[dict, bytes]:
        acting = self.config["supportActingMaster"] == "true"
        found = self.table.route(ext.get("topic") or "", acting=acting)
        if found is None:
            raise RefusalError(17, f"No topic route info in name server for the topic: {ext.get('topic')}")
        if self.config["orderMessageEnable"] == "true":
            order = self.kv.get("ORDER_TOPIC_CONFIG", {}).get(ext["topic"])
            if order is not None:
                found["orderTopicConf"] = order
        if ext.get("__ZONE_MODE", "").lower() == "true" and ext.get("__ZONE_NAME", "").strip():
            keep_zone(found, ext["__ZONE_NAME"].lower())
        standard = version >= 401 or ext.get("acceptStandardJsonOnly", "").lower() == "true"
        return {}, dumped(found, quoted=standard)

    def on_106(self, *_: object) -> tuple[dict, bytes]:
        table = self.table
        return {}, dumped(
            {
                "brokerAddrTable": {name: table.broker_data(name) for name in table.brokers},
                "clusterAddrTable": {name: sorted(names) for name, names in table.clusters.items()},
            },
            quoted=False,
        )

    def permission(self, ext: dict, field: str, change: object) -> tuple[dict, bytes]:
        name, count = ext.get("brokerName"), 0
        for entries in self.table.topics.values():
            if name in entries:
                entries[name]["perm"] = change(entries[name]["perm"])
                count += 1
        return {field: str(count)}, b""

    def on_205(self, ext: dict, *_: object) -> tuple[dict, bytes]:
        return self.permission(ext, "wipeTopicCount", lambda perm: perm & ~2)

    def on_327(self, ext: dict, *_: object) -> tuple[dict, bytes]:
        return self.permission(ext, "addTopicCount", lambda _: 6)

    def on_206(self, *_: object) -> tuple[dict, bytes]:
        return {}, dumped({"topicList": list(self.table.topics)})

    def on_216(self, ext: dict, *_: object) -> tuple[dict, bytes]:
        (topic,) = need(ext, "topic")
        cluster = ext.get("clusterName")
        for table in (self.table.topics, self.table.mappings):
            entries = table.get(topic, {})
            for name in list(entries):
                if not cluster or name in self.table.clusters.get(cluster, ()):
                    del entries[name]
            if not entries:
                table.pop(topic, None)
        return {}, b""

    def on_217(self, ext: dict, body: bytes, *_: object) -> tuple[dict, bytes]:
        (topic,) = need(ext, "topic")
        try:
            found = parse(body) if body else {}
        except ValueError as problem:
            raise RefusalError(1, str(problem)) from None
        if any(not isinstance(one, list) for one in ((found or {}).get("filterServerTable") or {}).values()):
            raise RefusalError(1, "filter servers that are no list")
        queues = (found or {}).get("queueDatas") or []
        for queue in queues:
            if queue.get("brokerName") not in self.table.brokers:
                return {}, b""
        for queue in queues:
            numbers = ("readQueueNums", "writeQueueNums", "perm", "topicSysFlag")
            self.table.topics.setdefault(topic, {})[queue["brokerName"]] = {
                "brokerName": queue["brokerName"],
                **{one: int(queue.get(one) or 0) for one in numbers},
            }
        return {}, b""

    def on_224(self, ext: dict, *_: object) -> tuple[dict, bytes]:
        names = self.table.clusters.get(ext.get("cluster") or "", set())
        topics = [topic for topic, entries in self.table.topics.items() if names & entries.keys()]
        return {}, dumped({"topicList": topics})

    def on_304(self, *_: object) -> tuple[dict, bytes]:
        names = list(self.table.clusters)
        for cluster in self.table.clusters.values():
            names += sorted(cluster)
        found: dict = {"topicList": list(dict.fromkeys(names))}
        for broker in self.table.brokers.values():
            if broker["addresses"]:
                found["brokerAddr"] = next(iter(broker["addresses"].values()))
                break
        return {}, dumped(found)

    def flagged(self, chosen: object) -> tuple[dict, bytes]:
        topics = [
            topic
            for topic, entries in self.table.topics.items()
            if entries and chosen(next(iter(entries.values()))["topicSysFlag"])
        ]
        return {}, dumped({"topicList": topics})

    def on_311(self, *_: object) -> tuple[dict, bytes]:
        return self.flagged(lambda flag: flag & 1)

    def on_312(self, *_: object) -> tuple[dict, bytes]:
        return self.flagged(lambda flag: flag & 2)

    def on_313(self, *_: object) -> tuple[dict, bytes]:
        return self.flagged(lambda flag: flag & 2 and not flag & 1)

    def on_318(self, _: dict, body: bytes, *__: object) -> tuple[dict, bytes]:
        lines = [line.strip() for line in body.decode("utf-8", "replace").splitlines()]
        pairs = dict(line.split("=", 1) for line in lines if "=" in line and not line.startswith("#"))
        if {"configStorePath", "kvConfigPath", "rocketmqHome", "configBlackList"} & pairs.keys():
            raise RefusalError(16, "Can not update config in black list.")
        for key, value in pairs.items():
            if key in self.config:
                self.config[key] = value
        return {}, b""

    def on_319(self, *_: object) -> tuple[dict, bytes]:
        return {}, "".join(f"{key}={value}\n" for key, value in self.config.items()).encode()

    def on_322(self, ext: dict, body: bytes, *_: object) -> tuple[dict, bytes]:
        cluster, address = ext.get("clusterName"), ext.get("brokerAddr")
        try:
            asked = parse(body) if body else None
        except UnicodeDecodeError:
            asked = {"counter": -1}
        except ValueError as problem:
            raise RefusalError(1, str(problem)) from None
        if not isinstance(asked, dict):
            raise RefusalError(1, "no data version")
        if not isinstance(asked.get("stateVersion", 0), int | None):
            raise RefusalError(1, "a state version that is no number")
        lease = self.table.live.get((cluster, address))
        if lease is None:
            return {"changed": "true"}, b""
        version = lease["version"]
        same = all(
            version.get(one, 0) == asked.get(one, 0) for one in ("counter", "timestamp", "stateVersion")
        )
        if same:
            lease["last"] = time.monotonic()
        return {"changed": "false" if same else "true"}, dumped(version)

    def on_901(self, ext: dict, *_: object) -> tuple[dict, bytes]:
        cluster, name = ext.get("clusterName"), ext.get("brokerName")
        group: dict = {"cluster": cluster, "brokerName": name}
        broker = self.table.brokers.get(name)
        if broker is not None:
            group["brokerAddrs"] = {str(one): value for one, value in broker["addresses"].items()}
        else:
            group["brokerAddrs"] = {}
        return {}, dumped({"brokerMemberGroup": group})

    def on_904(self, ext: dict, *_: object) -> tuple[dict, bytes]:
        lease = self.table.live.get((ext.get("clusterName"), ext.get("brokerAddr")))
        if lease is not None:
            lease["last"] = time.monotonic()
        return {}, b""

    # --- connections ----------------------------------------------------------------------------------------

    def serve(self, port: int) -> None:
        listener = socket.create_server(("127.0.0.1", port), backlog=256)
        threading.Thread(target=self.scan, daemon=True).start()
        print(f"listening on {port}", flush=True)
        while True:
            peer, _ = listener.accept()
            threading.Thread(target=self.talk, args=(peer,), daemon=True).start()

    def scan(self) -> None:
        while True:
            time.sleep(SCAN)
            with self.lock:
                self.table.expire()

    def talk(self, peer: socket.socket) -> None:
        peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        peer.settimeout(120)
        reader = FirstOfARead(peer) if "first-of-a-read" in self.faults else peer.makefile("rb")
        try:
            while True:
                head = reader.read(4)
                if len(head) < 4:
                    return
                (length,) = struct.unpack(">i", head)
                if not 4 <= length <= 16 * 1024 * 1024 - 4:
                    return
                frame = reader.read(length)
                if len(frame) < length:
                    return
                reply = self.handle(frame, peer)
                if reply:
                    peer.sendall(reply)
        except (OSError, ValueError, KeyError, TypeError, struct.error, RecursionError):
            return
        finally:
            peer.close()
            with self.lock:
                self.table.lose([key for key, lease in self.table.live.items() if lease["peer"] is peer])

    def handle(self, frame: bytes, peer: object) -> bytes:
        kind, size = frame[0], int.from_bytes(frame[1:4], "big")
        if kind not in (0, 1) or size > len(frame) - 4:
            raise ValueError("frame")
        header = json_header(frame[4 : 4 + size]) if kind == 0 else binary_header(frame[4 : 4 + size])
        body = frame[4 + size :]
        if header["flag"] & 1:
            return b""
        code, remark, ext, out = 0, None, {}, b""
        try:
            ext, out = self.answer(header["code"], header["ext"], body, peer, header["version"])
        except RefusalError as refusal:
            code, remark = refusal.code, refusal.remark
            if "error-29" in self.faults:
                code = 29
        except TimeoutError:
            return b""
        except Exception as problem:
            code, remark = 29 if "error-29" in self.faults else 1, repr(problem)
            print(f"request {header['code']}: {problem!r}", flush=True)
        if header["flag"] & 2:
            return b""
        if kind == 0 and "ext-without-quotes" in self.faults:
            ext = {key: bare(value) for key, value in ext.items()}
        reply = encoded(kind, code, header["opaque"], remark, ext, out)
        if "length-counts-itself" in self.faults:
            reply = struct.pack(">i", len(reply)) + reply[4:]
        return reply


def bare(value: str) -> object:
    """A number or a boolean as what it is; other text as it is."""
    return json.loads(value) if re.fullmatch(r"true|false|-?(0|[1-9]\d*)", value) else value


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--kv", type=pathlib.Path)
    parser.add_argument("--fault", action="append", default=[], choices=FAULTS)
    options = parser.parse_args()
    Server(options.kv, set(options.fault)).serve(options.port)
