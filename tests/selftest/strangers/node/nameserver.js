'use strict';
// A NameServer, written from the catalogue and the reports alone: node nameserver.js --port 9876
// [--config namesrv.properties] [--fault NAME]… The faults are listed in the README of this directory's parent.

const fs = require('fs');
const net = require('net');
const json = require('./json');
const registration = require('./registration');
const { decode, encode } = require('./frames');
const { Table, LEASE_MS, WRITE } = require('./table');

const MAX_FRAME = 16777216;
const IDLE_MS = 120000;
const SCAN_MS = 5000;
const FLAG_RESPONSE = 1;
const FLAG_ONEWAY = 2;
const [SUCCESS, SYSTEM_ERROR, UNSUPPORTED, TOPIC_NOT_EXIST, QUERY_NOT_FOUND] = [0, 1, 3, 17, 22];

const isTrue = (text) => (text || '').toLowerCase() === 'true';
const body = (value) => Buffer.from(json.stringify(value));
const ok = (value) => ({ code: SUCCESS, body: value === undefined ? undefined : body(value) });

const FAULTS = new Set(process.argv.flatMap((word, at, all) => (word === '--fault' ? [all[at + 1]] : [])));

function argument(name) {
  const at = process.argv.indexOf(name);
  return at < 0 ? undefined : process.argv[at + 1];
}

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
const table = new Table(settings, notify, FAULTS);
const kv = new Map();

function register(request, socket) {
  const fields = request.extFields;
  for (const name of ['brokerName', 'brokerAddr', 'clusterName']) if (!fields[name]) throw new Error(`${name} is missing`);
  if (!/^-?\d+$/.test(fields.brokerId || '')) throw new Error('brokerId is no number');
  const broker = {
    name: fields.brokerName, address: fields.brokerAddr, cluster: fields.clusterName, id: fields.brokerId,
    haAddr: fields.haServerAddr, zone: fields.__ZONE_NAME, lease: Number(fields.heartbeatTimeoutMillis || LEASE_MS),
    acting: fields.enableActingMaster === undefined ? undefined : isTrue(fields.enableActingMaster),
  };
  const refused = table.register(broker, registration.read(request, FAULTS), socket);
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
  const changed = !table.hasVersion(live, json.parse(sent.toString('utf8')));
  return { code: SUCCESS, extFields: { changed: String(changed) }, body: body(live.version) };
}

function registerTopic({ extFields: fields, body: sent }) {
  if (sent.length) {
    for (const queues of json.parse(sent.toString('utf8')).queueDatas || []) {
      if (table.brokers.has(queues.brokerName)) table.setQueues(fields.topic, queues);
    }
  }
  return ok();
}

function memberGroup({ extFields: fields }) {
  const entry = table.brokers.get(fields.brokerName);
  const members = entry ? [...entry.addrs] : [];
  const shown = FAULTS.has('slaves-alone-are-members') ? members.filter(([id]) => Number(id) > 0) : members;
  const brokerAddrs = Object.fromEntries(shown);
  return ok({ brokerMemberGroup: { brokerAddrs, brokerName: fields.brokerName, cluster: fields.clusterName } });
}

function putKv({ extFields: fields }) {
  if (fields.namespace === undefined || fields.key === undefined) throw new Error('namespace or key is missing');
  if (!kv.has(fields.namespace)) kv.set(fields.namespace, new Map());
  kv.get(fields.namespace).set(fields.key, fields.value);
  return ok();
}

function getKv({ extFields: fields }) {
  const value = (kv.get(fields.namespace) || new Map()).get(fields.key);
  return value === undefined ? { code: QUERY_NOT_FOUND } : { code: SUCCESS, extFields: { value } };
}

function deleteKv({ extFields: fields }) {
  (kv.get(fields.namespace) || new Map()).delete(fields.key);
  return ok();
}

const HANDLERS = {
  100: putKv,
  101: getKv,
  102: deleteKv,
  103: register,
  104: ({ extFields: fields }) => { table.remove(fields.clusterName, fields.brokerAddr); return ok(); },
  105: route,
  106: () => ok(table.clusterInfo()),
  205: ({ extFields: fields }) => ({ code: SUCCESS, extFields: { wipeTopicCount: table.operate(fields.brokerName, (perm) => perm & ~WRITE) } }),
  206: () => ok({ topicList: [...table.topics.keys()] }),
  216: ({ extFields: fields }) => { table.deleteTopic(fields.topic, fields.clusterName); return ok(); },
  217: registerTopic,
  224: ({ extFields: fields }) => ok({ topicList: table.topicsOf(fields.cluster) }),
  322: queryDataVersion,
  327: ({ extFields: fields }) => ({ code: SUCCESS, extFields: { addTopicCount: table.operate(fields.brokerName, () => 6) } }),
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
      if (FAULTS.has('one-frame-a-read')) [chunks, size] = [[], 0];
      lastFrame = Date.now();
      if (!handle(all.subarray(0, length + 4), socket)) return socket.destroy();
    }
  });
}

function handle(frame, socket) {
  let request;
  try {
    request = decode(frame, FAULTS);
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
