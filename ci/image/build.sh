#!/usr/bin/env bash
# Builds images of Apache RocketMQ without a registry of images: the base from Debian's packages, the rest from the
# jars that Apache publishes.
#
#     ci/image/build.sh [VERSION…]        rmq-harness/rocketmq:VERSION; default 4.9.8 and 5.3.3
#
# Environment:
#   BASE     an image with Java 17 and useradd to build on (eclipse-temurin:17-jre); default: rmq-harness/jre:17,
#            made here with mmdebstrap where it is not there yet
#   FRESH    if not empty, that base is made even where it is there
#   SUITE    Debian's release for that base; default bookworm
#   MIRROR   where its packages come from; default: Debian's own
#   PYTHON   a Python with this project installed; default .venv/bin/python
#
# libfaketime is part of the base, so that docker:IMAGE?warp=60 works.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
: "${BASE:=rmq-harness/jre:17}" "${FRESH:=}" "${SUITE:=bookworm}" "${MIRROR:=}" "${PYTHON:=$root/.venv/bin/python}"
[ $# -gt 0 ] || set -- 4.9.8 5.3.3

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

is_here() { [ -z "$FRESH" ] && docker image inspect "$BASE" >/dev/null 2>&1; }
if [ "$BASE" = rmq-harness/jre:17 ] && ! is_here; then
  echo "base $BASE from Debian $SUITE"
  mmdebstrap --quiet --variant=essential --include=openjdk-17-jre-headless,libfaketime,passwd \
    "$SUITE" "$scratch/base.tar" ${MIRROR:+"$MIRROR"}
  docker import --change 'ENV LANG=C.UTF-8' "$scratch/base.tar" "$BASE" >/dev/null
  rm "$scratch/base.tar"
fi

# The classic builder needs no plugin; nothing here needs more than it can.
docker buildx version >/dev/null 2>&1 || export DOCKER_BUILDKIT=0

for version; do
  context=$scratch/$version
  mkdir -p "$context"
  cp -r "$here/bin" "$here/conf" "$context/"
  for program in namesrv broker tools; do
    cp "$here/conf/logback.xml" "$context/conf/logback_$program.xml"
  done
  rm "$context/conf/logback.xml"
  "$PYTHON" - "$version" > "$scratch/jars" <<'PYTHON'
import sys
from harness.targets import TargetError, maven

modules = ["rocketmq-broker", "rocketmq-namesrv", "rocketmq-tools"]
try:
    print(maven.jars(sys.argv[1], modules))
except TargetError as problem:
    sys.exit(str(problem))
print(maven.stand_in(sys.argv[1], modules))
PYTHON
  { read -r jars; read -r made_of; } < "$scratch/jars"
  cp -r "$jars" "$context/lib"
  docker build -f "$here/Dockerfile" --build-arg BASE="$BASE" --build-arg VERSION="$version" \
    --build-arg MADE_OF="$made_of" -t "rmq-harness/rocketmq:$version" "$context" > "$scratch/log" 2>&1 ||
    { cat "$scratch/log" >&2; exit 1; }
  rm -rf "$context"
  echo "image rmq-harness/rocketmq:$version${made_of:+ ($made_of)}"
done
