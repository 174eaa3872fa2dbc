#!/usr/bin/env bash
# A container engine for machines that have none running: `engine.sh start` starts dockerd where no engine answers,
# `engine.sh stop` stops that one and no other. State and log are in out/engine.
set -euo pipefail
state=$(cd "$(dirname "$0")/.." && pwd)/out/engine
pid_file=$state/dockerd.pid log=$state/dockerd.log

answers() { docker version --format '{{.Server.Version}}' >/dev/null 2>&1; }
runs() { [ -f "$pid_file" ] && kill -0 "$(cat "$pid_file")" 2>/dev/null; }

try() {
  echo "+ dockerd $*" >> "$log"
  setsid nohup dockerd --pidfile "$pid_file" "$@" >> "$log" 2>&1 < /dev/null &
  local child=$!
  for _ in $(seq 60); do
    answers && return 0
    kill -0 "$child" 2>/dev/null || return 1
    sleep 0.5
  done
  end
  return 1
}

end() {
  runs || { rm -f "$pid_file"; return 0; }
  local pid
  pid=$(cat "$pid_file")
  kill "$pid"
  for _ in $(seq 60); do
    kill -0 "$pid" 2>/dev/null || { rm -f "$pid_file"; return 0; }
    sleep 0.5
  done
  kill -9 "$pid" && rm -f "$pid_file"
}

case "${1-}" in
  start)
    answers && { echo "a container engine answers already"; exit 0; }
    command -v dockerd >/dev/null || { echo "no dockerd here: install Docker (package docker.io)" >&2; exit 4; }
    mkdir -p "$state"
    : > "$log"
    # Where the file system under /var/lib/docker takes no overlay, plain copies do.
    try || try --storage-driver=vfs || {
      echo "dockerd does not start; the end of $log:" >&2
      tail -20 "$log" >&2
      exit 4
    }
    echo "started dockerd $(docker version --format '{{.Server.Version}}'), process $(cat "$pid_file")"
    ;;
  stop) end ;;
  *) echo "usage: ci/engine.sh start|stop" >&2; exit 3 ;;
esac
