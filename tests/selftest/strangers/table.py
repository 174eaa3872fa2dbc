"""The brokers and topics of a stranger's NameServer."""

from __future__ import annotations

import time

from frames import RefusalError, integer


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
        topics = {one: with_numbers(config) for one, config in (body.get("topicConfigTable") or {}).items()}
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
                leave_other_ids(others, address, number)
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
        leave_other_ids(addresses, address, number)
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
                    self.mappings.setdefault(topic, {})[owner] = complete(mapping)
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
        elif broker["acting"] and min(broker["addresses"]) > 0:
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


def leave_other_ids(addresses: dict[int, str], address: str, number: int) -> None:
    for other in [one for one, value in addresses.items() if value == address and one != number]:
        del addresses[other]


def with_numbers(config: dict | None) -> dict:
    """A topic whose numbers may have come as texts."""
    found = dict(config or {})
    for member in ("readQueueNums", "writeQueueNums", "perm", "topicSysFlag"):
        if isinstance(found.get(member), str):
            found[member] = int(found[member])
        if not -(1 << 31) <= (found.get(member) or 0) < 1 << 31:
            raise RefusalError(1, f"{member} has more than 32 bits")
    return found


MAPPING = ("topic", "bname", "totalQueues", "epoch", "dirty", "scope", "currIdMap")


def complete(mapping: dict) -> dict:
    """A mapping with what it lacks; numbers that are null are 0, and other members that are null or that it
    does not know go.
    """
    whole = {"totalQueues": 0, "epoch": 0, "dirty": False, "currIdMap": {}, "scope": "__global__", **mapping}
    numbers = {one: whole[one] or 0 for one in ("totalQueues", "epoch")}
    whole |= numbers | {"dirty": bool(whole["dirty"])}
    return {one: value for one, value in whole.items() if value is not None and one in MAPPING}


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
