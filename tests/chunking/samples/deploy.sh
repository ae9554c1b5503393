#!/usr/bin/env bash
set -euo pipefail

TARGET="${1:-staging}"
readonly RETRIES=3

# Prints to the error stream.
log() {
  printf '%s\n' "$*" >&2
}

function build {
  make clean
  make "TARGET=$TARGET"
}

if [ "$TARGET" = production ]; then
  confirm() {
    read -r -p "Really? " answer
    [ "$answer" = yes ]
  }
fi

upload() {
  local try
  for try in $(seq "$RETRIES"); do
    rsync -a out/ "$TARGET:/srv/app/" && return 0
    log "attempt $try failed"
  done
  return 1
}

build
upload
