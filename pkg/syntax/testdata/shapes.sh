#!/bin/sh
LIMIT=10
readonly NAME="x"
export HOME_DIR=/tmp

# Builds.
build() {
  local a=1
  echo "$a"
}

function deploy {
  build
}

if true; then
  inside() { :; }
fi
