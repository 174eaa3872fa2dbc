'use strict';
// JSON as brokers write it: names may be bare numbers, texts may stand in single quotes, and integers may need 64 bits (a
// BigInt here).

function parse(text) {
  let at = 0;
  const fail = () => { throw new Error(`not JSON at character ${at}`); };
  const space = () => { while (/\s/.test(text[at] || '')) at += 1; };
  const take = (char) => { space(); if (text[at] !== char) fail(); at += 1; };

  function token(pattern) {
    pattern.lastIndex = at;
    const match = pattern.exec(text) || fail();
    at = pattern.lastIndex;
    return match[0];
  }

  const string = () => (text[at] === "'" ? token(/'[^'\\]*'/y).slice(1, -1) : JSON.parse(token(/"(?:[^"\\]|\\.)*"/ys)));
  const isText = () => text[at] === '"' || text[at] === "'";

  function number() {
    const word = token(/-?\d+(\.\d+)?([eE][-+]?\d+)?/y);
    const value = Number(word);
    return /^-?\d+$/.test(word) && !Number.isSafeInteger(value) ? BigInt(word) : value;
  }

  function members(close, member) {
    at += 1;
    space();
    if (text[at] === close) { at += 1; return; }
    for (;;) {
      member();
      space();
      if (text[at] === close) { at += 1; return; }
      take(',');
    }
  }

  function value() {
    space();
    if (text[at] === '{') {
      const object = {};
      members('}', () => {
        space();
        const name = isText() ? string() : token(/-?\d+/y);
        take(':');
        object[name] = value();
      });
      return object;
    }
    if (text[at] === '[') {
      const list = [];
      members(']', () => list.push(value()));
      return list;
    }
    if (isText()) return string();
    if (/[-\d]/.test(text[at] || '')) return number();
    return { true: true, false: false, null: null }[token(/true|false|null/y)];
  }

  const result = value();
  space();
  if (at < text.length) fail();
  return result;
}

function stringify(value) {
  if (typeof value === 'bigint') return String(value);
  if (Array.isArray(value)) return `[${value.map(stringify).join(',')}]`;
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${stringify(member)}`).join(',')}}`;
}

module.exports = { parse, stringify };
