#!/bin/sh
# The role is the first argument or NODE_ROLE (nameserver, broker, controller); anything else is a command to run.
set -eu

case "${1-}" in
  nameserver | broker | controller) role=$1; shift ;;
  *) role=${NODE_ROLE-} ;;
esac
case "$role" in
  nameserver) exec ./mqnamesrv "$@" ;;
  broker) exec ./mqbroker "$@" ;;
  controller) exec ./mqcontroller "$@" ;;
esac
exec "$@"
