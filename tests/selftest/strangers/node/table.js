'use strict';
// What the NameServer knows: brokers, clusters, topics with their queues and mappings, leases, filter servers.

const { isWrong } = require('./arguments');

const LEASE_MS = 120000;
const WRITE = 2;
const MEMBER_TOPICS = 'rmq_sys_SYNC_BROKER_MEMBER_';

const lowest = (addrs) => [...addrs.keys()].sort((a, b) => (BigInt(a) < BigInt(b) ? -1 : 1))[0];
const VERSION_MEMBERS = isWrong('timestamp-forgotten') ? ['counter', 'stateVersion'] : ['counter', 'stateVersion', 'timestamp'];
const sameVersion = (a, b) => VERSION_MEMBERS.every((name) => BigInt(a[name] ?? 0) === BigInt(b[name] ?? 0));

const sameZone = (a, b) => (isWrong('zone-as-typed') ? a === b : a.toLowerCase() === b.toLowerCase());

class Table {
  constructor(settings, notify) {
    this.settings = settings;
    this.notify = notify;       // (addresses, fields): tells brokers that the smallest id has changed
    this.brokers = new Map();   // broker name -> {name, cluster, addrs: id -> address, acting, zone}
    this.clusters = new Map();  // cluster -> set of broker names
    this.topics = new Map();    // topic -> broker name -> queue data
    this.mappings = new Map();  // topic -> broker name -> mapping
    this.live = new Map();      // cluster and address -> {cluster, address, socket, version, haAddr, lease, until}
    this.filters = new Map();   // cluster and address -> list of filter servers
  }

  key(cluster, address) {
    return isWrong('key-without-cluster') ? address : `${cluster}\n${address}`;
  }

  // Returns null, or why the registration is refused.
  register(broker, body, socket) {
    const known = this.brokers.get(broker.name);
    const holder = known && known.addrs.get(broker.id);
    if (holder && holder !== broker.address && this.outranks(known.cluster, holder, body.version)) {
      this.live.delete(this.key(broker.cluster, broker.address));
      this.leaveOtherIds(known, broker);
      return null;
    }
    if (!holder && body.topics.length === 1) return `the first registration of id ${broker.id} has one topic`;
    const entry = this.enter(broker, socket);
    const before = this.live.get(this.key(broker.cluster, broker.address));
    const changed = !before || !sameVersion(before.version, body.version);
    this.live.set(this.key(broker.cluster, broker.address), {
      cluster: broker.cluster, address: broker.address, haAddr: broker.haAddr, socket, version: body.version,
      lease: broker.lease, until: Date.now() + broker.lease,
    });
    this.publish(broker, entry, body, changed || holder !== broker.address);
    if (body.filters && body.filters.length) this.filters.set(this.key(broker.cluster, broker.address), body.filters);
    else if (body.filters) this.filters.delete(this.key(broker.cluster, broker.address));
    return null;
  }

  outranks(cluster, holder, version) {
    const other = this.live.get(this.key(cluster, holder));
    return other !== undefined && BigInt(other.version.stateVersion ?? 0) > BigInt(version.stateVersion ?? 0);
  }

  enter(broker) {
    if (!this.clusters.has(broker.cluster)) this.clusters.set(broker.cluster, new Set());
    this.clusters.get(broker.cluster).add(broker.name);
    let entry = this.brokers.get(broker.name);
    if (!entry) this.brokers.set(broker.name, entry = { name: broker.name, cluster: broker.cluster, addrs: new Map() });
    entry.acting = broker.acting === true;
    entry.zone = broker.zone;
    const former = entry.addrs.size ? lowest(entry.addrs) : undefined;
    this.leaveOtherIds(entry, broker);
    entry.addrs.set(broker.id, broker.address);
    if (former !== undefined && BigInt(broker.id) < BigInt(former)) {
      const others = [...entry.addrs.values()].filter((address) => address !== broker.address);
      this.announce(others, { minBrokerId: broker.id, minBrokerAddr: broker.address, haBrokerAddr: broker.haAddr });
    }
    return entry;
  }

  leaveOtherIds(entry, broker) {
    for (const [id, address] of entry.addrs) if (address === broker.address && id !== broker.id) entry.addrs.delete(id);
  }

  publish(broker, entry, body, changed) {
    const master = broker.id === '0';
    const isLowest = lowest(entry.addrs) === broker.id;
    const publishes = isWrong('slave-or') ? broker.acting !== undefined || isLowest : broker.acting !== undefined && isLowest;
    if (!master && !publishes) return;
    for (const topic of body.topics) {
      const queues = this.topics.get(topic.topicName);
      if (!changed && queues && queues.has(broker.name)) continue;
      const perm = topic.perm ?? 6;
      this.setQueues(topic.topicName, {
        brokerName: broker.name, readQueueNums: topic.readQueueNums ?? 16, writeQueueNums: topic.writeQueueNums ?? 16,
        perm: !master && broker.acting ? perm & ~WRITE : perm, topicSysFlag: topic.topicSysFlag ?? 0,
      });
    }
    for (const [topic, mapping] of Object.entries(body.mappings)) {
      if (!this.mappings.has(topic)) this.mappings.set(topic, new Map());
      const byBroker = this.mappings.get(topic);
      const name = mapping.bname ?? broker.name;
      if (changed || !byBroker.has(name)) byBroker.set(name, mapping);
    }
  }

  setQueues(topic, queueData) {
    if (!this.topics.has(topic)) this.topics.set(topic, new Map());
    this.topics.get(topic).set(queueData.brokerName, queueData);
  }

  master(name) {
    const entry = this.brokers.get(name);
    const address = entry && entry.addrs.get('0');
    return address && this.live.get(this.key(entry.cluster, address));
  }

  refresh(cluster, address) {
    const live = this.live.get(this.key(cluster, address));
    if (live) live.until = Date.now() + live.lease;
    return live;
  }

  hasVersion(live, version) {
    return sameVersion(live.version, version);
  }

  // Removes an address from one broker name, or from all of its cluster.
  remove(cluster, address, only) {
    const names = [...(this.clusters.get(cluster) || [])];
    if (only !== undefined && !names.includes(only)) return;
    this.live.delete(this.key(cluster, address));
    if (!isWrong('filter-servers-stay')) this.filters.delete(this.key(cluster, address));
    for (const name of only === undefined ? names : [only]) {
      const entry = this.brokers.get(name);
      for (const [id, held] of [...entry.addrs]) if (held === address) this.removeId(entry, id, address);
    }
  }

  removeId(entry, id, address) {
    const smallest = lowest(entry.addrs) === id;
    entry.addrs.delete(id);
    if (entry.addrs.size === 0) return this.removeName(entry.name);
    if (!entry.acting) return;
    if (Number(id) <= 0 && Number(lowest(entry.addrs)) > 0) this.operate(entry.name, (perm) => perm & ~WRITE);
    if (smallest) {
      const next = lowest(entry.addrs);
      this.announce([...entry.addrs.values()], { minBrokerId: next, minBrokerAddr: entry.addrs.get(next), offlineBrokerAddr: address });
    }
  }

  removeName(name) {
    this.brokers.delete(name);
    for (const [cluster, names] of this.clusters) {
      names.delete(name);
      if (names.size === 0) this.clusters.delete(cluster);
    }
    for (const table of [this.topics, this.mappings]) {
      for (const [topic, byBroker] of table) {
        byBroker.delete(name);
        if (byBroker.size === 0) table.delete(topic);
      }
    }
  }

  announce(addresses, fields) {
    if (this.settings.notifyMinBrokerIdChanged) this.notify(addresses, fields);
  }

  connectionLost(socket) {
    for (const live of [...this.live.values()]) if (live.socket === socket) this.remove(live.cluster, live.address);
  }

  expire() {
    for (const live of [...this.live.values()]) {
      if (live.until >= Date.now()) continue;
      this.remove(live.cluster, live.address);
      live.socket.destroy();
    }
  }

  // Changes the permission of every topic of a broker name; returns how many it has.
  operate(name, change) {
    let count = 0;
    for (const byBroker of this.topics.values()) {
      const queues = byBroker.get(name);
      if (!queues) continue;
      queues.perm = change(queues.perm);
      count += 1;
    }
    return count;
  }

  deleteTopic(topic, cluster) {
    for (const table of [this.topics, this.mappings]) {
      const byBroker = table.get(topic);
      if (!byBroker) continue;
      for (const name of [...byBroker.keys()]) if (!cluster || (this.clusters.get(cluster) || new Set()).has(name)) byBroker.delete(name);
      if (byBroker.size === 0) table.delete(topic);
    }
  }

  topicsWith(flags) {
    return [...this.topics].filter(([, byBroker]) => [...byBroker.values()].slice(0, 1).some((queues) => flags(queues.topicSysFlag))).map(([topic]) => topic);
  }

  topicsOf(cluster) {
    const names = this.clusters.get(cluster) || new Set();
    return [...this.topics].filter(([, byBroker]) => [...byBroker.keys()].some((name) => names.has(name))).map(([topic]) => topic);
  }

  route(topic, zone) {
    const byBroker = this.topics.get(topic);
    if (!byBroker) return null;
    let entries = [...byBroker.keys()].map((name) => this.brokers.get(name)).filter(Boolean)
      .map((entry) => ({ entry, addrs: this.shownAddresses(topic, entry, byBroker.get(entry.name)) }));
    if (entries.length === 0) return null;
    if (zone !== undefined) {
      entries = entries.filter(({ entry, addrs }) => !('0' in addrs) || sameZone(entry.zone || '', zone));
    }
    const mapping = this.mappings.get(topic) || new Map();
    const filterServerTable = {};
    const mappings = {};
    for (const { entry, addrs } of entries) {
      for (const address of Object.values(addrs)) {
        const filters = this.filters.get(this.key(entry.cluster, address));
        if (filters) filterServerTable[address] = filters;
      }
      if (mapping.has(entry.name)) mappings[entry.name] = mapping.get(entry.name);
    }
    return {
      brokerDatas: entries.map(({ entry, addrs }) => this.brokerData(entry, addrs)),
      filterServerTable,
      queueDatas: entries.map(({ entry }) => byBroker.get(entry.name)),
      topicQueueMappingByBroker: Object.keys(mappings).length ? mappings : undefined,
    };
  }

  shownAddresses(topic, entry, queues) {
    const addrs = Object.fromEntries(entry.addrs);
    const acting = this.settings.supportActingMaster && entry.acting && !('0' in addrs)
      && !(queues.perm & WRITE) && !topic.startsWith(MEMBER_TOPICS);
    if (acting) {
      const id = lowest(entry.addrs);
      addrs['0'] = addrs[id];
      delete addrs[id];
    }
    return addrs;
  }

  brokerData(entry, addrs) {
    return { brokerAddrs: addrs, brokerName: entry.name, cluster: entry.cluster, enableActingMaster: entry.acting, zoneName: entry.zone };
  }

  clusterInfo() {
    const brokers = [...this.brokers.values()].map((entry) => [entry.name, this.brokerData(entry, Object.fromEntries(entry.addrs))]);
    const clusters = [...this.clusters].map(([cluster, names]) => [cluster, [...names]]);
    return { brokerAddrTable: Object.fromEntries(brokers), clusterAddrTable: Object.fromEntries(clusters) };
  }
}

module.exports = { Table, LEASE_MS, WRITE };
