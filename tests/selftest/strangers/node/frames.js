'use strict';
const { isWrong } = require('./arguments');
const json = require('./json');

const LANGUAGES = ['JAVA', 'CPP', 'DOTNET', 'PYTHON', 'DELPHI', 'ERLANG', 'RUBY', 'OTHER', 'HTTP', 'GO', 'PHP', 'OMS', 'RUST', 'NODE_JS'];

function decode(frame) {
  const type = frame[4];
  if (type > 1) throw new Error(`serialization ${type}`);
  const headerLength = frame.readUIntBE(5, 3);
  if (headerLength > frame.length - 8) throw new Error('the header is longer than the frame');
  const header = frame.subarray(8, 8 + headerLength);
  const command = type === 1 ? decodeBinary(header) : decodeJson(header);
  command.binary = type === 1;
  command.body = frame.subarray(8 + headerLength);
  return command;
}

const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);

function int32(value, name) {
  const number = typeof value === 'string' && /^-?\d+$/.test(value) ? Number(value) : value;
  if (typeof number === 'number' && Math.trunc(number) >= -(2 ** 31) && Math.trunc(number) < 2 ** 31) return Math.trunc(number);
  throw new Error(`${name} is no 32-bit number`);
}

function decodeJson(header) {
  const command = json.parse(header.toString('utf8'));
  if (!isObject(command)) throw new Error('the header is no object');
  if (!isObject(command.extFields ?? {})) throw new Error('extFields is no object');
  for (const name of ['code', 'opaque', 'flag', 'version']) command[name] = int32(command[name] ?? 0, name);
  const fields = Object.entries(command.extFields || {}).filter(([, value]) => value !== null);
  return { ...command, extFields: Object.fromEntries(fields.map(([name, value]) => [name, String(value)])) };
}

function decodeBinary(buffer) {
  let at = 13;
  const text = (lengthBytes) => {
    const length = buffer.readIntBE(at, lengthBytes);
    if (length < 0 || at + lengthBytes + length > buffer.length) throw new Error('a text is longer than the header');
    at += lengthBytes + length;
    return buffer.toString('utf8', at - length, at);
  };
  const remark = text(4);
  const extFields = {};
  const end = at + 4 + buffer.readInt32BE(at);
  at += 4;
  while (at < end) {
    const key = text(2);
    const value = text(4);
    if (key && value) extFields[key] = value;
  }
  if (at !== end) throw new Error('the ext fields are longer than they say');
  return {
    code: buffer.readInt16BE(0), language: LANGUAGES[buffer[2]], version: buffer.readInt16BE(3),
    opaque: buffer.readInt32BE(5), flag: buffer.readInt32BE(9), remark, extFields,
  };
}

function encode(command, binary) {
  const header = binary ? encodeBinary(command) : Buffer.from(JSON.stringify({
    code: command.code, extFields: command.extFields, flag: command.flag, language: 'NODE_JS', opaque: command.opaque,
    remark: command.remark, serializeTypeCurrentRPC: 'JSON', version: 479,
  }));
  const body = command.body || Buffer.alloc(0);
  const head = Buffer.alloc(8);
  head.writeInt32BE(4 + header.length + body.length, 0);
  head.writeUInt8(binary && !isWrong('type-byte-left-out') ? 1 : 0, 4);
  head.writeUIntBE(header.length, 5, 3);
  return Buffer.concat([head, header, body]);
}

function encodeBinary(command) {
  const entries = Object.entries(command.extFields || {}).flatMap(([key, value]) => [sized(key, 2), sized(value, 4)]);
  const ext = Buffer.concat(entries);
  const fixed = Buffer.alloc(13);
  fixed.writeInt16BE(command.code, 0);
  fixed.writeUInt8(LANGUAGES.indexOf('NODE_JS'), 2);
  fixed.writeInt16BE(479, 3);
  fixed.writeInt32BE(command.opaque, 5);
  fixed.writeInt32BE(command.flag, 9);
  const extLength = Buffer.alloc(4);
  extLength.writeInt32BE(ext.length);
  return Buffer.concat([fixed, sized(command.remark || '', 4), extLength, ext]);
}

function sized(text, lengthBytes) {
  const bytes = Buffer.from(String(text));
  const length = Buffer.alloc(lengthBytes);
  length.writeUIntBE(bytes.length, 0, lengthBytes);
  return Buffer.concat([length, bytes]);
}

module.exports = { decode, encode };
