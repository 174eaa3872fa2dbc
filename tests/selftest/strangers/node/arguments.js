'use strict';
// The command line: --name value, and --fault NAME as often as there are faults.

function argument(name) {
  const at = process.argv.indexOf(name);
  return at < 0 ? undefined : process.argv[at + 1];
}

const faults = new Set(process.argv.filter((_, at) => process.argv[at - 1] === '--fault'));

module.exports = { argument, isWrong: (fault) => faults.has(fault) };
