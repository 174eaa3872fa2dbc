'use strict';
// A NameServer, written by somebody who knows the catalogue alone:
// node nameserver.js --port 9876 [--kv kv.json] [--config namesrv.properties] [--fault NAME …]

const fs = require('fs');
const net = require('net');
const { isUtf8 } = require('buffer');
const json = require('./json');
const { argument, isWrong } = require('./arguments');
const registration = require('./registration');
const { decode, encode } = require('./frames');
const { Table, LEASE_MS, WRITE } = require('./table');

const MAX_FRAME = 16777216;
const IDLE_MS = 120000;
const SCAN_MS = 5000;
const FLAG_RESPONSE = 1;
const FLAG_ONEWAY = 2;
const [SUCCESS, SYSTEM_ERROR, UNSUPPORTED, TOPIC_NOT_EXIST, QUERY_NOT_FOUND] = [0, 1, 3, 17, 22];

const QUEUE_NUMBERS = ['readQueueNums', 'writeQueueNums', 'perm', 'topicSysFlag'];

const isTrue = (text) => (text || '').toLowerCase() === 'true';
const body = (value) => Buffer.from(json.stringify(value), isWrong('latin1-bodies') ? 'latin1' : 'utf8');
const ok = (value) => ({ code: SUCCESS, body: value === undefined ? undefined : body(value) });

function readSettings(path) {
  const lines = path ? fs.readFileSync(path, 'latin1').split('\n') : [];
  const pairs = lines.filter((line) => line.includes('=')).map((line) => line.split('=').map((part) => part.trim()));
  return Object.fromEntries(pairs.map(([key, value]) => [key, value === 'true' ? true : value === 'false' ? false : value]));
}

// Sends a one-way request to brokers, on connections of their own.
function notify(addresses, fields) {
  const frame = encode({ code: 905, flag: FLAG_ONEWAY, opaque: 0, extFields: fields }, false);
  for (const address of addresses) {
    const at = address.lastIndexOf(':');
    const socket = net.connect(Number(address.slice(at + 1)), address.slice(0, at), () => socket.end(frame));
    socket.on('error', () => {});
  }
}

const settings = readSettings(argument('--config'));
const table = new Table(settings, notify);
const kvFile = argument('--kv');
const kv = new Map();
if (kvFile && fs.existsSync(kvFile)) {
  for (const [namespace, pairs] of JSON.parse(fs.readFileSync(kvFile, 'utf8'))) kv.set(namespace, new Map(pairs));
}

function saveKv() {
  if (kvFile) fs.writeFileSync(kvFile, JSON.stringify([...kv].map(([namespace, pairs]) => [namespace, [...pairs]])));
}

function register(request, socket) {
  const fields = request.extFields;
  for (const name of ['brokerName', 'brokerAddr', 'clusterName']) if (!fields[name]) throw new Error(`${name} is missing`);
  const id = /^[-+]?\d+$/.test(fields.brokerId || '') ? BigInt(fields.brokerId.replace('+', '')) : undefined;
  if (id === undefined || BigInt.asIntN(64, id) !== id) throw new Error('brokerId is no 64-bit number');
  const broker = {
    name: fields.brokerName, address: fields.brokerAddr, cluster: fields.clusterName, id: String(id),
    haAddr: fields.haServerAddr, zone: fields.__ZONE_NAME, lease: Number(fields.heartbeatTimeoutMillis || LEASE_MS),
    acting: fields.enableActingMaster === undefined ? undefined : isTrue(fields.enableActingMaster),
  };
  const refused = table.register(broker, registration.read(request), socket);
  if (refused) return { code: SYSTEM_ERROR, remark: refused };
  const entry = table.brokers.get(broker.name);
  const master = broker.id !== '0' && entry.addrs.get(broker.id) === broker.address ? table.master(broker.name) : undefined;
  const order = kv.get('ORDER_TOPIC_CONFIG');
  return {
    code: SUCCESS, body: order && body({ table: Object.fromEntries(order) }),
    extFields: master && { masterAddr: master.address, haServerAddr: master.haAddr },
  };
}

function route(request) {
  const fields = request.extFields;
  const zone = isTrue(fields.__ZONE_MODE) && (fields.__ZONE_NAME || '').trim() ? fields.__ZONE_NAME : undefined;
  const found = table.route(fields.topic, zone);
  return found ? ok(found) : { code: TOPIC_NOT_EXIST, remark: `no broker serves ${fields.topic}` };
}

function queryDataVersion({ extFields: fields, body: sent }) {
  const live = table.refresh(fields.clusterName, fields.brokerAddr);
  if (!live) return { code: SUCCESS, extFields: { changed: 'true' } };
  const changed = !isUtf8(sent) || !table.hasVersion(live, json.parse(sent.toString('utf8')));
  return { code: SUCCESS, extFields: { changed: String(changed) }, body: body(live.version) };
}

function registerTopic({ extFields: fields, body: sent }) {
  const told = (sent.length && json.parse(sent.toString('utf8'))) || {};
  if (!Object.values(told.filterServerTable || {}).every(Array.isArray)) throw new Error('filter servers that are no list');
  const given = (told.queueDatas || []).map(({ brokerName, ...rest }) => ({
    brokerName, ...Object.fromEntries(QUEUE_NUMBERS.map((name) => [name, Number(rest[name] ?? 0)])),
  }));
  const isNew = !table.topics.has(fields.topic);
  if (fields.topic === undefined || (isNew && !given.every((queues) => table.brokers.has(queues.brokerName)))) return ok();
  for (const queues of given) if (table.brokers.has(queues.brokerName)) table.setQueues(fields.topic, queues);
  return ok();
}

function memberGroup({ extFields: fields }) {
  const entry = table.brokers.get(fields.brokerName);
  const brokerAddrs = entry ? Object.fromEntries(entry.addrs) : {};
  return ok({ brokerMemberGroup: { brokerAddrs, brokerName: fields.brokerName, cluster: fields.clusterName } });
}

function putKv({ extFields: fields }) {
  if (fields.namespace === undefined || fields.key === undefined) throw new Error('namespace or key is missing');
  if (!kv.has(fields.namespace)) kv.set(fields.namespace, new Map());
  kv.get(fields.namespace).set(fields.key, fields.value);
  saveKv();
  return ok();
}

function getKv({ extFields: fields }) {
  const value = (kv.get(fields.namespace) || new Map()).get(fields.key);
  return value === undefined ? { code: QUERY_NOT_FOUND } : { code: SUCCESS, extFields: { value } };
}

function deleteKv({ extFields: fields }) {
  (kv.get(fields.namespace) || new Map()).delete(fields.key);
  saveKv();
  return ok();
}

function listKv({ extFields: fields }) {
  const found = kv.get(fields.namespace);
  return found ? ok({ table: Object.fromEntries(found) }) : { code: QUERY_NOT_FOUND, remark: 'no such namespace' };
}

function systemTopics() {
  const [first] = table.brokers.values();
  const brokerAddr = first && [...first.addrs.values()][0];
  return ok({ brokerAddr, topicList: [...new Set([...table.clusters.keys(), ...table.brokers.keys()])] });
}

const HANDLERS = {
  100: putKv,
  101: getKv,
  102: deleteKv,
  103: register,
  104: ({ extFields: fields }) => { table.remove(fields.clusterName, fields.brokerAddr, fields.brokerName); return ok(); },
  105: route,
  106: () => ok(table.clusterInfo()),
  205: ({ extFields: fields }) => ({ code: SUCCESS, extFields: { wipeTopicCount: String(table.operate(fields.brokerName, (perm) => perm & ~WRITE)) } }),
  206: () => ok({ topicList: [...table.topics.keys()] }),
  216: ({ extFields: fields }) => { table.deleteTopic(fields.topic, fields.clusterName); return ok(); },
  217: registerTopic,
  219: listKv,
  224: ({ extFields: fields }) => ok({ topicList: table.topicsOf(fields.cluster) }),
  304: systemTopics,
  311: () => ok({ topicList: table.topicsWith((flags) => flags & 1) }),
  312: () => ok({ topicList: table.topicsWith((flags) => flags & 2) }),
  313: () => ok({ topicList: table.topicsWith((flags) => (flags & 3) === 2) }),
  322: queryDataVersion,
  327: ({ extFields: fields }) => ({ code: SUCCESS, extFields: { addTopicCount: String(table.operate(fields.brokerName, () => 6)) } }),
  901: memberGroup,
  904: ({ extFields: fields }) => { table.refresh(fields.clusterName, fields.brokerAddr); return ok(); },
};

function answer(request, socket) {
  const handler = HANDLERS[request.code];
  if (!handler) return { code: UNSUPPORTED, remark: `request code ${request.code} is not supported` };
  try {
    return handler(request, socket);
  } catch (error) {
    return { code: SYSTEM_ERROR, remark: error.message };
  }
}

function serve(socket) {
  let chunks = [];
  let size = 0;
  let lastFrame = Date.now();
  const idle = setInterval(() => { if (Date.now() - lastFrame >= IDLE_MS) socket.destroy(); }, 1000);
  socket.on('error', () => {});
  socket.on('close', () => { clearInterval(idle); table.connectionLost(socket); });
  socket.on('data', (chunk) => {
    chunks.push(chunk);
    size += chunk.length;
    while (size >= 4) {
      if (chunks[0].length < 4) chunks = [Buffer.concat(chunks)];
      const length = chunks[0].readInt32BE(0);
      if (length < 4 || length + 4 > MAX_FRAME) return socket.destroy();
      if (size < length + 4) return;
      const all = Buffer.concat(chunks);
      chunks = [all.subarray(length + 4)];
      size -= length + 4;
      lastFrame = Date.now();
      if (!handle(all.subarray(0, length + 4), socket)) return socket.destroy();
    }
  });
}

function handle(frame, socket) {
  let request;
  try {
    request = decode(frame);
  } catch (error) {
    console.error(`a frame that cannot be read: ${error.message}`);
    return false;
  }
  if (request.flag & FLAG_RESPONSE) return true;
  const reply = answer(request, socket);
  if (!(request.flag & FLAG_ONEWAY)) {
    socket.write(encode({ ...reply, opaque: request.opaque, flag: FLAG_RESPONSE }, request.binary));
  }
  return true;
}

setInterval(() => table.expire(), SCAN_MS);
net.createServer(serve).listen(Number(argument('--port') || 9876), '127.0.0.1');
