# What the peers' build scripts have in common; sourced by them, in bash.
#
#   . ../shared/build.sh NAME
#
# sets $here (the peer's sources), $shared and $out (where it is built), and stops at the first failure. A peer's script
# ends by making $out/peer, and $out/version with one line about what it is built from.

set -euo pipefail
name=$1
shared=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
here=$(cd "$shared/../$name" && pwd)
out=${ZORB_PEERS_OUT:-$(cd "$shared/../../.." && pwd)/target/peers}/$name
mkdir -p "$out"

# Nothing is done for sources that have been built. Until others are, there is no peer: nobody is to measure the
# previous sources unawares.
sources=$(find "$here" "$shared" "$shared/../bench.idl" -type f -print0 | sort -z | xargs -0 sha256sum | sha256sum)
if [ -x "$out/peer" ] && [ "$(cat "$out/sources" 2>/dev/null)" = "$sources" ]; then exit 0; fi
rm -f "$out/peer" "$out/version" "$out/sources"
trap 'if [ $? = 0 ]; then echo "$sources" >"$out/sources"; fi' EXIT

# need FILE-OR-COMMAND:PACKAGE…: installs the packages whose file or command is not there, where that is allowed.
need() {
  local entry packages=()
  for entry in "$@"; do
    if ! command -v "${entry%%:*}" >/dev/null && [ ! -e "${entry%%:*}" ]; then packages+=("${entry#*:}"); fi
  done
  [ ${#packages[@]} = 0 ] && return 0
  local command=(apt-get install -y --no-install-recommends "${packages[@]}")
  if [ "$(id -u)" != 0 ] || [ ! -e /etc/debian_version ]; then
    echo "$name: missing; as root on Debian: apt-get update && ${command[*]}" >&2
    exit 1
  fi
  export DEBIAN_FRONTEND=noninteractive
  "${command[@]}" >/dev/null 2>&1 || { apt-get update -qq && "${command[@]}" >/dev/null; } || {
    echo "$name: failed: ${command[*]}" >&2
    exit 1
  }
}

# The version of a Debian package, for the description of a run.
version_of() {
  dpkg-query -W -f '${Package} ${Version}\n' "$@" 2>/dev/null | paste -sd ' ' || true
}

# build_rust CRATE…: builds the Rust peer of this folder; its version is that of these crates.
build_rust() {
  command -v cargo >/dev/null || { echo "$name: cargo is missing: install Rust 1.95 or later with rustup" >&2; exit 1; }
  cargo build --quiet --release --manifest-path "$here/Cargo.toml" --target-dir "$out/target"
  local crates
  crates=$(cargo tree --manifest-path "$here/Cargo.toml" --depth 1 --prefix none)
  for crate; do grep "^$crate v" <<<"$crates" | head -1; done | paste -sd ' ' >"$out/version"
  cp "$out/target/release/peer" "$out/peer"
}
