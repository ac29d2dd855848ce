# shellcheck shell=bash disable=SC2034
# Shared by the scripts in deploy/: source it from a script that runs under `set -euo pipefail`.
# Messages go to stderr, so that stdout carries only what a script is asked for.

ROOT="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
SCRIPT="deploy/$(basename "$0")"
LOGS="$ROOT/.build/logs"
readonly ROOT SCRIPT LOGS

# What a build links.
readonly BUILD_PACKAGES=(pkg-config libssl-dev libsqlite3-dev libpq-dev libprotobuf-c-dev)
# A PostgreSQL server of one's own, psql and pgbench.
readonly POSTGRES_PACKAGES=(postgresql)
# What the tests need beside: a stock ttrpc client in Go, and the compiler for its messages. The
# Go plugin of protoc is built from golang-google-protobuf-dev, so that it fits that library. OpenSSL's
# program answers for the status of certificates. deploy/generate-messages needs both compilers of
# protobuf, its own definitions and its Python, which also compares the JSON of messages.
readonly TEST_PACKAGES=(
  python3 golang-go golang-github-containerd-ttrpc-dev golang-google-protobuf-dev
  protobuf-compiler protobuf-c-compiler libprotobuf-dev python3-protobuf openssl
  "${POSTGRES_PACKAGES[@]}"
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
  if install_packages "${missing[@]}"; then return; fi
  # Lists that are out of date name files that are gone.
  if [[ $updated == no ]]; then
    refresh_package_lists
    if install_packages "${missing[@]}"; then return; fi
  fi
  show_log packages
  fail "could not install: ${missing[*]}"
}

# Installs them without a PostgreSQL cluster of the system's own, which Debian would make and start
# with the server: nothing here uses one.
install_packages() {
  local settings=/etc/postgresql-common/createcluster.d status=0
  local file=$settings/entitle-build.conf
  as_root mkdir -p "$settings"
  as_root tee "$file" >/dev/null <<<'create_main_cluster = false'
  run_logged packages as_root env DEBIAN_FRONTEND=noninteractive \
    apt-get install --yes --no-install-recommends "$@" || status=$?
  as_root rm -f "$file"
  as_root rmdir --ignore-fail-on-non-empty "$settings"
  return "$status"
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
        'remark: '* | 'warning: ignoring '*) ;; # Of the compiler's own flags.
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

# The build of deploy/test and deploy/quickstart: debug, with the targets that only compute optimised
# (Package.swift). A whole module at a time and without debug information takes two thirds of the time.
# With -num-threads the compiler writes an object for each file, as SwiftPM expects: without it each
# build would compile everything.
readonly QUICK_SCRATCH="$ROOT/.build/tests"
readonly QUICK_BUILD=(
  env OPTIMIZED_TEST_BUILD=1 swift build --package-path "$ROOT" --scratch-path "$QUICK_SCRATCH"
  -debug-info-format none -Xswiftc -disable-batch-mode -Xswiftc -whole-module-optimization
  -Xswiftc -num-threads -Xswiftc 1
)
# For speed and for use. Debug information would take longer; backtraces name functions without it.
readonly RELEASE_BUILD=(
  swift build --package-path "$ROOT" --configuration release -debug-info-format none
)

# build_quick PRODUCT..., build_release PRODUCT...: builds products, and sets `programs` to their
# folder.
build_quick() {
  say "building (the first time takes minutes)"
  build_products "$@" -- "${QUICK_BUILD[@]}"
  programs="$QUICK_SCRATCH/debug"
}

build_release() {
  say "building in release (the first time takes minutes)"
  build_products "$@" -- "${RELEASE_BUILD[@]}"
  programs="$ROOT/.build/release"
}

# build_products PRODUCT... -- COMMAND...: one by one, as SwiftPM builds one product or everything, the
# tests' programs too.
build_products() {
  local product
  local -a products=()
  while [[ $1 != -- ]]; do
    products+=("$1")
    shift
  done
  shift
  for product in "${products[@]}"; do
    run_logged "build-$product" "$@" --product "$product" \
      || { show_log "build-$product"; fail "the build failed"; }
  done
  say "built"
}

# Shows the end of a log, for the reason of a failure.
show_log() {
  printf '%s\n' "--- end of $LOGS/$1.log ---" >&2
  tail -n 30 "$LOGS/$1.log" >&2
}

# The folder of PostgreSQL's programs, the newest where there are several: Debian leaves those of the
# server out of PATH.
postgres_programs() {
  local program
  if program="$(command -v initdb)"; then
    dirname "$(readlink -f "$program")"
    return
  fi
  program="$(find /usr/lib/postgresql/*/bin -name initdb 2>/dev/null | sort --version-sort | tail -n 1)"
  [[ -n $program ]] || return 1
  dirname "$program"
}

# Where start_postgres keeps everything; empty while there is none.
postgres_folder=""

# start_postgres PARENT [SETTING=VALUE...]: starts a PostgreSQL server for this script alone: in a new
# folder under PARENT, on a Unix socket there, without a port. A trap of the caller's has to call
# stop_postgres. It flushes to the disk as a real one does.
start_postgres() {
  local parent=$1 setting programs
  local -a settings=("listen_addresses=" "unix_socket_permissions=0700")
  shift
  [[ $parent =~ ^/[A-Za-z0-9/._-]*$ ]] \
    || fail "a PostgreSQL server cannot be kept in $parent: use a path of letters, digits and ._-/"
  programs="$(postgres_programs)" || fail "no PostgreSQL server is installed"
  postgres_folder="$(mktemp -d "${parent%/}/entitle-postgres.XXXXXX")"
  # The server refuses to run as root.
  if ((EUID == 0)); then chown postgres: "$postgres_folder"; fi
  say "starting a PostgreSQL server in $postgres_folder"
  # Whoever may enter the folder may connect: its mode lets nobody else.
  run_logged postgres-initdb as_postgres "$programs/initdb" --pgdata="$postgres_folder/data" \
    --username=postgres --auth=trust --encoding=UTF8 --locale=C \
    || { show_log postgres-initdb; fail "initdb failed"; }

  settings+=("unix_socket_directories=$postgres_folder" "$@")
  for setting in "${settings[@]}"; do
    printf "%s = '%s'\n" "${setting%%=*}" "${setting#*=}"
  done | as_postgres tee -a "$postgres_folder/data/postgresql.conf" >/dev/null
  # pg_ctl starts it in a session of its own, so that an interrupt from the terminal leaves it alone.
  control_postgres start \
    || { tail -n 20 "$postgres_folder/log" >&2; fail "the PostgreSQL server did not start"; }
}

# The connection URI of a database of the server that start_postgres started.
postgres_uri() { echo "postgresql://$1@/$2?host=$postgres_folder"; }

# Stops what start_postgres started, and deletes it.
stop_postgres() {
  [[ -n $postgres_folder ]] || return 0
  if [[ -e $postgres_folder/data/postmaster.pid ]]; then
    control_postgres --mode=fast --timeout=30 stop \
      || control_postgres --mode=immediate --timeout=30 stop \
      || say "the PostgreSQL server in $postgres_folder did not stop"
  fi
  rm -rf "$postgres_folder"
  postgres_folder=""
}

control_postgres() {
  as_postgres "$(postgres_programs)/pg_ctl" --pgdata="$postgres_folder/data" \
    --log="$postgres_folder/log" --silent --wait "$@" >&2
}

# Runs a command as the user that a PostgreSQL server may run as, in a folder that it may read.
as_postgres() {
  (
    cd "$postgres_folder" || exit
    if ((EUID == 0)); then
      exec setpriv --reuid=postgres --regid=postgres --init-groups -- "$@"
    else
      exec "$@"
    fi
  )
}
