'use strict';
// The body of a registration: JSON, or the compressed layout.

const zlib = require('zlib');
const { isWrong } = require('./arguments');
const json = require('./json');

const FIRST_WITH_MAPPINGS = 413;
const FIRST_WITH_FULL_BODY = 37;
const LARGEST_BODY = 64 * 1024 * 1024;
const NUMBERS = ['readQueueNums', 'writeQueueNums', 'perm', 'topicSysFlag'];
const MAPPING = ['topic', 'bname', 'totalQueues', 'epoch', 'dirty', 'scope', 'currIdMap'];

function read(request) {
  const { body, extFields, version } = request;
  const crc = int32(extFields.bodyCrc32) ?? 0;
  const sum = isWrong('crc-uncut') ? crc32(body) : crc32(body) & 0x7fffffff;
  if (crc !== 0 && crc !== sum) throw new Error('the checksum of the body differs');
  if (body.length === 0) return { version: { counter: 0, stateVersion: 0, timestamp: 0 }, topics: [], mappings: {}, filters: [] };
  if ((extFields.compressed || '').toLowerCase() === 'true') {
    return compressed(zlib.inflateSync(body, { maxOutputLength: LARGEST_BODY }), version || 0);
  }
  const whole = json.parse(utf8(body));
  if (typeof whole !== 'object' || whole === null || Array.isArray(whole)) throw new Error('the body is no object');
  const full = (version || 0) >= FIRST_WITH_FULL_BODY;
  const wrapper = (full ? whole.topicConfigSerializeWrapper : whole) || {};
  const table = wrapper.topicConfigTable || {};
  if (typeof table !== 'object' || Array.isArray(table)) throw new Error('the topics are no object');
  return {
    version: wrapper.dataVersion || { counter: 0, stateVersion: 0, timestamp: Date.now() },
    topics: Object.values(table).map(withNumbers),
    mappings: completed(wrapper.topicQueueMappingInfoMap || {}),
    filters: full && whole.filterServerList === undefined ? [] : (full ? whole.filterServerList || null : null),
  };
}

// Bytes that are no UTF-8 are an error.
const utf8 = (bytes) => new TextDecoder('utf-8', { fatal: true }).decode(bytes);

// A number of 32 bits, or undefined.
function int32(word) {
  const value = /^[-+]?\d+$/.test(word ?? '') ? Number(word) : NaN;
  return (value | 0) === value ? value : undefined;
}

// A topic whose numbers may have come as texts.
function withNumbers(topic) {
  const found = { ...topic };
  for (const member of NUMBERS) {
    if (found[member] === undefined || found[member] === null) continue;
    const value = int32(String(found[member]));
    if (value === undefined) throw new Error(`${member} is no number of 32 bits`);
    found[member] = value;
  }
  return found;
}

// Mappings with the members that they lack; numbers that are null are 0, and other members that are null or unknown go.
function completed(mappings) {
  const whole = (mapping) => {
    const all = { currIdMap: {}, scope: '__global__', ...mapping };
    const present = Object.entries(all).filter(([name, member]) => member !== null && MAPPING.includes(name));
    return { totalQueues: 0, epoch: 0, dirty: false, ...Object.fromEntries(present) };
  };
  return Object.fromEntries(Object.entries(mappings).map(([topic, mapping]) => [topic, whole(mapping)]));
}

function compressed(bytes, requestVersion) {
  let at = 0;
  const int = () => { at += 4; return bytes.readInt32BE(at - 4); };
  const text = () => { const length = int(); at += length; return bytes.toString('utf8', at - length, at); };
  const version = json.parse(text());
  const topics = Array.from({ length: int() }, () => topicLine(text()));
  const filters = json.parse(text());
  const mappings = {};
  if (requestVersion >= FIRST_WITH_MAPPINGS) {
    for (let left = int(); left > 0; left -= 1) {
      const mapping = json.parse(text());
      mappings[mapping.topic] = mapping;
    }
  }
  return { version, topics, mappings: completed(mappings), filters: filters === '' ? [] : filters };
}

function topicLine(line) {
  const words = line.split(' ');
  if (words.length < 5) throw new Error(`a topic of ${words.length} words`);
  if (!words.slice(1, 4).every((word) => int32(word) !== undefined)) throw new Error(`no numbers: ${line}`);
  if (!['SINGLE_TAG', 'MULTI_TAG'].includes(words[4])) throw new Error(`filter type ${words[4]}`);
  return { topicName: words[0], readQueueNums: Number(words[1]), writeQueueNums: Number(words[2]), perm: Number(words[3]) };
}

const CRC_TABLE = Array.from({ length: 256 }, (_, n) => {
  for (let bit = 0; bit < 8; bit += 1) n = n & 1 ? 0xedb88320 ^ (n >>> 1) : n >>> 1;
  return n >>> 0;
});

function crc32(bytes) {
  let crc = 0xffffffff;
  for (const byte of bytes) crc = CRC_TABLE[(crc ^ byte) & 0xff] ^ (crc >>> 8);
  return (crc ^ 0xffffffff) >>> 0;
}

module.exports = { read };
