# shellcheck shell=bash disable=SC2034
# Shared by the scripts in deploy/: source it from a script that runs under `set -euo pipefail`.
# Messages go to stderr, so that stdout carries only what a script is asked for.

ROOT="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
SCRIPT="deploy/$(basename "$0")"
LOGS="$ROOT/.build/logs"
readonly ROOT SCRIPT LOGS

# What a build links and generates with.
readonly BUILD_PACKAGES=(
  pkg-config libssl-dev libsqlite3-dev libprotobuf-c-dev protobuf-c-compiler
)
# What the tests need beside: a stock ttrpc client in Go, and the compiler for its messages. The
# Go plugin of protoc is built from golang-google-protobuf-dev, so that it fits that library. OpenSSL's
# program answers for the status of certificates.
readonly TEST_PACKAGES=(
  python3 golang-go golang-github-containerd-ttrpc-dev golang-google-protobuf-dev
  protobuf-compiler openssl
)
# The compiler that Package.swift asks for.
readonly SWIFT_MAJOR=6 SWIFT_MINOR=2

# A long step says how far it is this often, in seconds.
readonly PROGRESS_INTERVAL=5

say() { printf '[%4d s] %s\n' "$SECONDS" "$*" >&2; }

# fail REASON [STATUS]: says why and ends the script.
fail() {
  printf '%s: %s\n' "$SCRIPT" "$1" >&2
  exit "${2:-1}"
}

usage_error() { fail "$1 (see $SCRIPT --help)" 64; }

is_installed() {
  [[ "$(dpkg-query --show --showformat='${db:Status-Status}' "$1" 2>/dev/null)" == installed ]]
}

is_available() { [[ -n "$(apt-cache show --no-all-versions "$1" 2>/dev/null)" ]]; }

# Runs a command as root; the caller has said what for.
as_root() {
  if ((EUID == 0)); then "$@"; else sudo "$@"; fi
}

# need_packages PURPOSE PACKAGE...: installs those that are missing, and needs root only then.
need_packages() {
  local purpose=$1 package
  local -a missing=()
  shift
  command -v dpkg-query >/dev/null \
    || fail "this is not a Debian system; $purpose needs what Debian calls: $*"
  for package; do is_installed "$package" || missing+=("$package"); done
  if ((${#missing[@]} == 0)); then return; fi

  local -a install=(
    env DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends
    "${missing[@]}"
  )
  say "$purpose needs Debian packages that are missing: ${missing[*]}"
  if ((EUID != 0)) && ! command -v sudo >/dev/null; then
    fail "not root, and there is no sudo; as root, run: apt-get install ${missing[*]}"
  fi

  local updated=no
  for package in "${missing[@]}"; do
    if ! is_available "$package"; then
      refresh_package_lists
      updated=yes
      break
    fi
  done
  if run_logged packages as_root "${install[@]}"; then return; fi
  # Lists that are out of date name files that are gone.
  if [[ $updated == no ]]; then
    refresh_package_lists
    if run_logged packages as_root "${install[@]}"; then return; fi
  fi
  show_log packages
  fail "could not install: ${missing[*]}"
}

refresh_package_lists() {
  say "reading Debian's package lists"
  run_logged package-lists as_root apt-get update \
    || { show_log package-lists; fail "apt-get update failed"; }
}

# Fails with a reason unless a Swift compiler is there that is new enough.
need_swift() {
  local text
  command -v swift >/dev/null \
    || fail "no swift in PATH: install a Swift toolchain of $SWIFT_MAJOR.$SWIFT_MINOR or newer"
  text="$(swift --version 2>/dev/null)" || fail "swift --version failed"
  if [[ ! $text =~ Swift\ version\ ([0-9]+)\.([0-9]+) ]]; then
    fail "cannot tell the version of $(command -v swift)"
  fi
  local major=${BASH_REMATCH[1]} minor=${BASH_REMATCH[2]}
  if ((major < SWIFT_MAJOR || (major == SWIFT_MAJOR && minor < SWIFT_MINOR))); then
    fail "Swift $major.$minor is too old: $SWIFT_MAJOR.$SWIFT_MINOR or newer is needed"
  fi
}

# Passes on, of the lines read, errors and failed tests at once, and the newest other line every
# few seconds.
show_progress() {
  local line part="" newest="" shown=$SECONDS status
  while true; do
    status=0
    IFS= read -r -t "$PROGRESS_INTERVAL" line || status=$?
    if ((status > 128)); then # Nothing new in time; what was read is the start of a line.
      part+=$line
    elif ((status != 0)); then
      break
    else
      line=$part$line part=""
      case $line in
        *' error: '* | 'error: '* | '✘ '* | *'--- FAIL: '*) printf '         %s\n' "$line" >&2 ;;
        ?*) newest=$line ;;
      esac
    fi
    if ((SECONDS - shown >= PROGRESS_INTERVAL)); then
      say "… ${newest:0:100}"
      shown=$SECONDS
    fi
  done
}

# run_logged NAME COMMAND...: runs a long command, its output in a log and its progress shown;
# returns the command's status. The log is LOGS/NAME.log.
run_logged() {
  local log="$LOGS/$1.log" status
  shift
  mkdir -p "$LOGS"
  { ("$@") 2>&1 && status=0 || status=$?; echo "$status" >"$log.status"; } </dev/null \
    | tee "$log" | show_progress
  read -r status <"$log.status"
  rm -f "$log.status"
  return "$status"
}

# Shows the end of a log, for the reason of a failure.
show_log() {
  printf '%s\n' "--- end of $LOGS/$1.log ---" >&2
  tail -n 30 "$LOGS/$1.log" >&2
}
