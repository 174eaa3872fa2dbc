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

ADDRESS = re.compile(r".+:\d+")
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
}


class RefusalError(Exception):
    def __init__(self, code: int, remark: str) -> None:
        super().__init__(remark)
        self.code, self.remark = code, remark


def integer(text: str | None, default: int) -> int:
    """A number in a field; text that is none counts as absent."""
    return int(text) if text is not None and re.fullmatch(r"[+-]?\d+", text) else default


class Table:
    """The brokers and topics. Every method is called with the lock held."""

    def __init__(self, faults: set[str]) -> None:
        self.faults = faults
        self.clusters: dict[str, set[str]] = {}
        self.brokers: dict[str, dict] = {}  # name -> {cluster, addresses: {id: address}, acting, zone}
        self.live: dict[tuple[str, str], dict] = {}  # (cluster, address) -> lease
        self.topics: dict[str, dict[str, dict]] = {}  # topic -> broker name -> queue data
        self.mappings: dict[str, dict[str, dict]] = {}
        self.filters: dict[tuple[str, str], list] = {}

    def register(self, ext: dict, body: dict, filters: list | None, peer: object) -> tuple[str, str]:
        cluster, name, address = (ext.get(key) for key in ("clusterName", "brokerName", "brokerAddr"))
        number = integer(ext.get("brokerId"), 0)
        key = (cluster, address)
        topics = body.get("topicConfigTable") or {}
        told = body.get("dataVersion")
        version = dict.fromkeys(("counter", "timestamp", "stateVersion"), 0)
        version.update({one: value for one, value in (told or {}).items() if value is not None})
        if told is None and body:
            version["timestamp"] = int(time.time() * 1000)
        if any(not config or not config.get("topicName") for config in topics.values()):
            raise RefusalError(1, "a topic without a name")
        broker = self.brokers.get(name)
        others = {} if broker is None else broker["addresses"]
        held = others.get(number)
        if held is not None and held != address:
            lease = self.live.get((cluster, held))
            if lease and lease["version"]["stateVersion"] > version["stateVersion"]:
                self.live.pop(key, None)
                return "", ""
        if number not in others and len(topics) == 1:
            raise RefusalError(1, "a first registration with one topic only")
        self.clusters.setdefault(cluster, set()).add(name)
        first = broker is None
        if broker is None:
            broker = {"cluster": cluster, "addresses": {}}
            self.brokers[name] = broker
        acting = "enableActingMaster" in ext
        broker["acting"] = acting and ext["enableActingMaster"].lower() == "true"
        broker["zone"] = ext.get("__ZONE_NAME")
        addresses = broker["addresses"]
        for other in [one for one, value in addresses.items() if value == address and one != number]:
            del addresses[other]
        known = self.live.get(key)
        addresses[number] = address
        smallest = min(addresses) == number
        prime = acting and number > 0 and smallest  # whatever it says: that it says it is enough
        if topics and (number == 0 or prime):
            changed = known is None or known["version"] != version
            for config in topics.values():
                if config and (first or changed or name not in self.topics.get(config.get("topicName"), {})):
                    self.put_topic(name, config, prime)
            for topic, mapping in (body.get("topicQueueMappingInfoMap") or {}).items():
                owner = mapping.get("bname") or name
                if changed or first or owner not in self.mappings.get(topic, {}):
                    self.mappings.setdefault(topic, {})[owner] = mapping
        self.live[key] = {
            "last": time.monotonic(),
            "timeout": integer(ext.get("heartbeatTimeoutMillis"), 120_000) / 1000,
            "version": version,
            "peer": peer,
            "name": name,
            "ha": ext.get("haServerAddr") or "",
        }
        if filters:
            self.filters[key] = filters
        elif filters is not None:
            self.filters.pop(key, None)
        if number != 0 and 0 in addresses:
            master = self.live.get((cluster, addresses[0]))
            if master:
                return addresses[0], master["ha"]
        return "", ""

    def put_topic(self, name: str, config: dict, prime: bool) -> None:
        perm = config.get("perm", 6)
        self.topics.setdefault(config["topicName"], {})[name] = {
            "brokerName": name,
            "readQueueNums": config.get("readQueueNums", 16),
            "writeQueueNums": config.get("writeQueueNums", 16),
            "perm": perm & ~2 if prime and self.brokers[name]["acting"] else perm,
            "topicSysFlag": config.get("topicSysFlag", 0),
        }

    def remove_name(self, name: str, cluster: str) -> None:
        self.brokers.pop(name, None)
        for known, names in list(self.clusters.items()):
            names.discard(name)
            if not names:
                del self.clusters[known]
        for table in (self.topics, self.mappings):
            for topic, entries in list(table.items()):
                entries.pop(name, None)
                if not entries:
                    del table[topic]

    def unregister(self, cluster: str, address: str, name: str, number: int) -> None:
        self.live.pop((cluster, address), None)
        self.filters.pop((cluster, address), None)
        broker = self.brokers.get(name)
        if broker is None:
            return
        for one in [one for one, value in broker["addresses"].items() if value == address]:
            del broker["addresses"][one]
        if not broker["addresses"]:
            self.remove_name(name, cluster)
        elif broker["acting"] and 0 not in broker["addresses"]:
            for entries in self.topics.values():
                if name in entries:
                    entries[name]["perm"] &= ~2

    def lose(self, keys: list[tuple[str, str]]) -> None:
        for cluster, address in keys:
            lease = self.live.get((cluster, address))
            if lease:
                self.unregister(cluster, address, lease["name"], 0)

    def expire(self) -> None:
        now = time.monotonic()
        self.lose([key for key, lease in self.live.items() if now - lease["last"] > lease["timeout"]])

    def broker_data(self, name: str) -> dict:
        broker = self.brokers[name]
        data = {
            "brokerAddrs": {str(one): address for one, address in sorted(broker["addresses"].items())},
            "brokerName": name,
            "cluster": broker["cluster"],
            "enableActingMaster": broker["acting"],
        }
        return data if broker["zone"] is None else data | {"zoneName": broker["zone"]}

    def route(self, topic: str, *, acting: bool) -> dict | None:
        entries = self.topics.get(topic)
        if not entries:
            return None
        names = [name for name in entries if name in self.brokers]
        if not names:
            return None
        brokers = [self.broker_data(name) for name in names]
        queues = [dict(entries[name]) for name in entries]
        if "perm-7" in self.faults:
            for queue in queues:
                queue["perm"] |= 1
        for one, queue in zip(brokers, queues, strict=False):
            addresses = one["brokerAddrs"]
            has_master = "0" in addresses or not addresses
            if acting and one["enableActingMaster"] and not has_master and not queue["perm"] & 2:
                smallest = min(addresses, key=int)
                addresses["0"] = addresses.pop(smallest)
        filters = {}
        for name in names:
            for address in self.brokers[name]["addresses"].values():
                key = (self.brokers[name]["cluster"], address)
                if key in self.filters:
                    filters[address] = self.filters[key]
        found = {"brokerDatas": brokers, "filterServerTable": filters, "queueDatas": queues}
        if topic in self.mappings:
            found["topicQueueMappingByBroker"] = self.mappings[topic]
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
        value = self.kv.get(namespace or "", {}).get(key or "")
        if value is None:
            raise RefusalError(22, f"No config item, Namespace: {namespace} Key: {key}")
        return {"value": value}, b""

    def on_102(self, ext: dict, *_: object) -> tuple[dict, bytes]:
        if ext.get("namespace") in self.kv:
            self.kv[ext["namespace"]].pop(ext.get("key"), None)
        self.save()
        return {}, b""

    def on_219(self, ext: dict, *_: object) -> tuple[dict, bytes]:
        table = self.kv.get(ext.get("namespace") or "")
        if table is None:
            raise RefusalError(22, f"No config item, Namespace: {ext.get('namespace')}")
        return {}, dumped({"table": {key: value for key, value in table.items() if value is not None}})

    def save(self) -> None:
        if self.kv_file is not None:
            text = json.dumps({"configTable": self.kv}, ensure_ascii=False)
            self.kv_file.write_text(text, encoding="utf-8")

    def on_103(self, ext: dict, body: bytes, peer: object, version: int) -> tuple[dict, bytes]:
        need(ext, "clusterName", "brokerName", "brokerAddr", number="brokerId")
        crc = integer(ext.get("bodyCrc32"), 0)
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
        queues = (found or {}).get("queueDatas") or []
        for queue in queues:
            if queue.get("brokerName") not in self.table.brokers:
                return {}, b""
        for queue in queues:
            numbers = ("readQueueNums", "writeQueueNums", "perm", "topicSysFlag")
            self.table.topics.setdefault(topic, {})[queue["brokerName"]] = {
                "brokerName": queue["brokerName"],
                **{one: queue.get(one, 0) for one in numbers},
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
        except ValueError as problem:
            raise RefusalError(1, str(problem)) from None
        if not isinstance(asked, dict):
            raise RefusalError(1, "no data version")
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
        reader = peer.makefile("rb")
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
            code, remark = 1, repr(problem)
            print(f"request {header['code']}: {problem!r}", flush=True)
        if header["flag"] & 2:
            return b""
        return encoded(kind, code, header["opaque"], remark, ext, out)


def need(ext: dict, *names: str, number: str = "") -> list[str]:
    for name in names:
        if ext.get(name) is None:
            raise RefusalError(1, f"the custom field <{name}> is null")
    if number and not -(2**63) <= integer(ext.get(number), 2**63) < 2**63:
        raise RefusalError(1, f"the custom field <{number}> is null")
    return [ext[name] for name in names]


def keep_zone(route: dict, zone: str) -> None:
    """Drops the names whose master is in another zone."""
    for broker in list(route["brokerDatas"]):
        if "0" in broker["brokerAddrs"] and (broker.get("zoneName") or "").lower() != zone:
            route["brokerDatas"].remove(broker)
            route["queueDatas"] = [
                one for one in route["queueDatas"] if one["brokerName"] != broker["brokerName"]
            ]
            for address in broker["brokerAddrs"].values():
                route["filterServerTable"].pop(address, None)


def parse(data: bytes) -> object:
    return json.loads(re.sub(rb"([{,])\s*(-?\d+)\s*:", rb'\1"\2":', data).decode("utf-8"))


def plain(body: bytes, version: int) -> tuple[dict, list | None]:
    """Topics and filter servers. Senders older than 37 send the bare wrapper, and no filter servers."""
    try:
        parsed = parse(body)
    except ValueError as problem:
        raise RefusalError(1, str(problem)) from None
    if not isinstance(parsed, dict):
        raise RefusalError(1, "not an object")
    if version < 37:
        return parsed, None
    return parsed.get("topicConfigSerializeWrapper") or {}, parsed.get("filterServerList", [])


def decompressed(raw: bytes) -> tuple[dict, list]:
    """Lengths are four bytes: data version, number of topics, each topic, filter servers, mappings."""
    at = 0

    def chunk() -> bytes:
        nonlocal at
        (size,) = struct.unpack_from(">i", raw, at)
        at += 4 + size
        return raw[at - size : at]

    try:
        version = json.loads(chunk())
        (count,) = struct.unpack_from(">i", raw, at)
        at += 4
        topics = {}
        for _ in range(count):
            words = chunk().decode("utf-8").split(" ")
            if len(words) < 5 or words[4] not in ("SINGLE_TAG", "MULTI_TAG"):
                raise ValueError(f"topic line: {words}")
            name, read, write, perm, kind = words[:5]
            topics[name] = {
                "topicName": name,
                "readQueueNums": int(read),
                "writeQueueNums": int(write),
                "perm": int(perm),
                "topicFilterType": kind,
            }
        filters = json.loads(chunk())
        mappings = {}
        if at < len(raw):
            (count,) = struct.unpack_from(">i", raw, at)
            at += 4
            for _ in range(count):
                mapping = parse(chunk())
                mappings[mapping["topic"]] = mapping
    except (ValueError, struct.error, KeyError) as problem:
        raise RefusalError(1, str(problem)) from None
    wrapper = {"dataVersion": version, "topicConfigTable": topics, "topicQueueMappingInfoMap": mappings}
    return wrapper | {"mappingDataVersion": {}}, filters


def dumped(value: dict, *, quoted: bool = True) -> bytes:
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    if not quoted:
        text = re.sub(r'([{,])"(-?\d+)":', r"\1\2:", text)
    return text.encode()


def json_header(data: bytes) -> dict:
    found = json.loads(data.decode("utf-8"))
    fields = found.get("extFields")
    if fields is not None and not isinstance(fields, dict):
        raise ValueError("extFields")
    ext = {
        key: value if isinstance(value, str) else json.dumps(value)
        for key, value in (fields or {}).items()
        if value is not None
    }
    numbers = {one: found.get(one) for one in ("code", "version", "opaque", "flag")}
    return {**{one: number(value) for one, value in numbers.items()}, "ext": ext}


def number(value: object) -> int:
    """A number of a header: absent is 0, text with digits counts, everything else is an error."""
    if isinstance(value, str) and re.fullmatch(r"-?\d+", value):
        value = int(value)
    if value is not None and (not isinstance(value, int) or not -(2**31) <= value < 2**31):
        raise ValueError(f"no number: {value!r}")
    return value or 0


def binary_header(data: bytes) -> dict:
    code, _, version, opaque, flag = struct.unpack_from(">hbhii", data)
    at, ext = 13, {}

    def text(form: str) -> str | None:
        nonlocal at
        (size,) = struct.unpack_from(form, data, at)
        at += struct.calcsize(form)
        if not 0 <= size <= len(data) - at:
            raise ValueError("length")
        at += size
        return data[at - size : at].decode() if size else None

    text(">i")
    (length,) = struct.unpack_from(">i", data, at)
    at += 4
    end = at + length
    while at < end:
        key, value = text(">h"), text(">i")
        if key is not None and value is not None:
            ext[key] = value
    return {"code": code, "version": version, "opaque": opaque, "flag": flag, "ext": ext}


def encoded(kind: int, code: int, opaque: int, remark: str | None, ext: dict, body: bytes) -> bytes:
    if kind == 0:
        header: dict = {"code": code, "flag": 1, "language": "OTHER", "opaque": opaque, "version": 479}
        header["serializeTypeCurrentRPC"] = "JSON"
        if remark is not None:
            header["remark"] = remark
        if ext:
            header["extFields"] = ext
        data = json.dumps(header, ensure_ascii=False).encode("utf-8", "replace")
    else:
        words = (remark or "").encode()
        fields = b"".join(
            struct.pack(">h", len(key.encode()))
            + key.encode()
            + struct.pack(">i", len(value.encode()))
            + value.encode()
            for key, value in ext.items()
        )
        data = struct.pack(">hbhiii", code, 12, 479, opaque, 1, len(words)) + words
        data += struct.pack(">i", len(fields)) + fields
    return struct.pack(">iB", 4 + len(data) + len(body), kind) + len(data).to_bytes(3, "big") + data + body


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--kv", type=pathlib.Path)
    parser.add_argument("--fault", action="append", default=[], choices=FAULTS)
    options = parser.parse_args()
    Server(options.kv, set(options.fault)).serve(options.port)
