one() {
  if [ "$1" -gt 1 ]; then
    echo "x"
  fi
}

two() {
  for x in "$@"; do
    echo "$(echo "$x")"
  done
}

three() {
  one 3
}
