#!/usr/bin/env bash
# Builds two images of rmq-harness itself, without a registry of images: the base from Debian's packages, the libraries
# from wheels in the versions of requirements.lock. rmq-harness/harness is the command, rmq-harness/server the same with
# a RocketMQ for tests as its entrypoint; both have the tags VERSION and latest.
#
#     ci/image/harness/build.sh
#
# Environment:
#   BASE     an image to build on, with the same Python as PYTHON (python:3.11-slim); default: rmq-harness/python:3.11,
#            made here with mmdebstrap where it is not there yet
#   SUITE    Debian's release for that base; default bookworm
#   MIRROR   where its packages come from; default: Debian's own
#   PYTHON   a Python with this project installed; default .venv/bin/python
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../.." && pwd)
: "${BASE:=rmq-harness/python:3.11}" "${SUITE:=bookworm}" "${MIRROR:=}" "${PYTHON:=$root/.venv/bin/python}"

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

if [ "$BASE" = rmq-harness/python:3.11 ] && ! docker image inspect "$BASE" >/dev/null 2>&1; then
  echo "base $BASE from Debian $SUITE"
  mmdebstrap --quiet --variant=essential --include=python3,python3-venv,passwd,ca-certificates \
    "$SUITE" "$scratch/base.tar" ${MIRROR:+"$MIRROR"}
  docker import --change 'ENV LANG=C.UTF-8' "$scratch/base.tar" "$BASE" >/dev/null
  rm "$scratch/base.tar"
fi

# The classic builder needs no plugin; nothing here needs more than it can.
docker buildx version >/dev/null 2>&1 || export DOCKER_BUILDKIT=0

context=$scratch/context
mkdir -p "$context/wheels"
(cd "$root" && "$PYTHON" -m hatchling build -t wheel -d "$context/wheels" >/dev/null 2>&1)
wheel=$(echo "$context"/wheels/*.whl)
version=$(basename "$wheel" | cut -d- -f2)
sed -e 's/ *\\$//' -e '/--hash=/d' "$root/requirements.lock" > "$scratch/versions.txt"
"$PYTHON" -m pip download --quiet --disable-pip-version-check --only-binary :all: -c "$scratch/versions.txt" \
  -d "$context/wheels" "$wheel[control]" >/dev/null
cp "$here/serve" "$here/healthy" "$context/"
for image in harness server; do
  docker build -f "$here/Dockerfile" --target "$image" --build-arg BASE="$BASE" --build-arg VERSION="$version" \
    -t "rmq-harness/$image:$version" -t "rmq-harness/$image:latest" "$context" > "$scratch/log" 2>&1 ||
    { cat "$scratch/log" >&2; exit 1; }
  echo "image rmq-harness/$image:$version"
done
