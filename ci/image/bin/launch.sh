# Sourced by the commands beside it:  launch MAIN_CLASS DEFAULT_HEAP [ARGUMENT…]
# HEAP_OPTS replaces the heap, JAVA_OPT goes before it, JAVA_OPT_EXT comes last and wins.
: "${ROCKETMQ_HOME:=$(cd "$(dirname "$0")/.." && pwd)}"
export ROCKETMQ_HOME

launch() {
  main=$1 heap=$2
  shift 2
  # Memory-mapped files of the broker are locked and released through these packages (`MappedFile`, `LibC`).
  # shellcheck disable=SC2086  # options are words
  exec java ${JAVA_OPT-} ${HEAP_OPTS:-$heap} \
    --add-opens java.base/java.nio=ALL-UNNAMED --add-opens java.base/sun.nio.ch=ALL-UNNAMED \
    --add-exports java.base/sun.nio.ch=ALL-UNNAMED \
    ${JAVA_OPT_EXT-} -cp "$ROCKETMQ_HOME/conf:$ROCKETMQ_HOME/lib/*" "$main" "$@"
}
