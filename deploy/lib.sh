# shellcheck shell=bash disable=SC2034
# Shared by the scripts in deploy/: source it from a script that runs under `set -euo pipefail`.
# Messages go to stderr, so that stdout contains only the results of a script.

ROOT="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
SCRIPT="deploy/$(basename "$0")"
LOGS="$ROOT/.build/logs"
readonly ROOT SCRIPT LOGS

# Libraries that a build links.
readonly BUILD_PACKAGES=(pkg-config libssl-dev libsqlite3-dev libpq-dev libprotobuf-c-dev libzstd-dev)
# A PostgreSQL server, psql and pgbench.
readonly POSTGRES_PACKAGES=(postgresql)
# Further packages for the tests: a stock ttrpc client in Go, and the compiler for its messages. The
# Go plugin of protoc is built from golang-google-protobuf-dev, so that it matches that library. The
# openssl program serves as an OCSP responder. deploy/generate-messages needs both protobuf compilers,
# the protobuf definitions and the Python package, which also compares the JSON of messages.
# python3-prometheus-client reads the metrics as Prometheus does. curl calls by HTTP. python3-venv is for
# need_python_tools.
readonly TEST_PACKAGES=(
  python3 python3-venv golang-go golang-github-containerd-ttrpc-dev golang-google-protobuf-dev
  protobuf-compiler protobuf-c-compiler libprotobuf-dev python3-protobuf openssl curl
  python3-prometheus-client
  "${POSTGRES_PACKAGES[@]}"
)
# The oldest compiler that Package.swift accepts.
readonly SWIFT_MAJOR=6 SWIFT_MINOR=2

# Interval of progress messages of long steps, in seconds.
readonly PROGRESS_INTERVAL=5

say() { printf '[%4d s] %s\n' "$SECONDS" "$*" >&2; }

# fail REASON [STATUS]: prints the reason and ends the script.
fail() {
  printf '%s: %s\n' "$SCRIPT" "$1" >&2
  exit "${2:-1}"
}

usage_error() { fail "$1 (see $SCRIPT --help)" 64; }

is_installed() {
  [[ "$(dpkg-query --show --showformat='${db:Status-Status}' "$1" 2>/dev/null)" == installed ]]
}

is_available() { [[ -n "$(apt-cache show --no-all-versions "$1" 2>/dev/null)" ]]; }

# Runs a command as root. The caller has printed the purpose.
as_root() {
  if ((EUID == 0)); then "$@"; else sudo "$@"; fi
}

# need_packages PURPOSE PACKAGE...: installs missing packages, and needs root only then.
need_packages() {
  local purpose=$1 package
  local -a missing=()
  shift
  command -v dpkg-query >/dev/null \
    || fail "this is not a Debian system; $purpose needs the equivalent of these packages: $*"
  for package; do is_installed "$package" || missing+=("$package"); done
  if ((${#missing[@]} == 0)); then return; fi

  say "$purpose needs missing Debian packages: ${missing[*]}"
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
  # Outdated lists may name files that no longer exist.
  if [[ $updated == no ]]; then
    refresh_package_lists
    if install_packages "${missing[@]}"; then return; fi
  fi
  show_log packages
  fail "could not install: ${missing[*]}"
}

# Installs packages. Prevents Debian from creating and starting a PostgreSQL cluster together with the
# server package, because nothing here uses it.
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

# Gets promtool, which checks metrics and alerts, into .build/promtool. It is in the package of the
# Prometheus server, which would be started and enabled by an installation, so that only the program is
# taken out of it. Without promtool its tests are skipped.
get_promtool() {
  local folder="$ROOT/.build/promtool"
  if command -v promtool >/dev/null || [[ -x $folder/usr/bin/promtool ]]; then return; fi
  say "getting promtool from Debian's package prometheus"
  rm -rf "$folder"
  mkdir -p "$folder/package"
  if (cd "$folder/package" && run_logged promtool apt-get download prometheus) \
    && dpkg-deb --extract "$folder"/package/prometheus_*.deb "$folder/package" \
    && mkdir -p "$folder/usr/bin" \
    && mv "$folder/package/usr/bin/promtool" "$folder/usr/bin/promtool"; then
    rm -rf "$folder/package"
  else
    rm -rf "$folder"
    say "promtool cannot be had: its tests are skipped"
  fi
}

# The folder of the tools of deploy/python-tools.txt.
readonly PYTHON_TOOLS="$ROOT/.build/python-tools"

# Installs the tools of deploy/python-tools.txt from PyPI, unless they are installed in these versions.
need_python_tools() {
  local list="$ROOT/deploy/python-tools.txt"
  if cmp --silent "$list" "$PYTHON_TOOLS/installed.txt"; then return; fi
  need_packages "the tools from PyPI" python3 python3-venv
  say "getting tools from PyPI"
  rm -rf "$PYTHON_TOOLS"
  if run_logged python-tools /usr/bin/python3 -m venv "$PYTHON_TOOLS" \
    && run_logged python-tools "$PYTHON_TOOLS/bin/pip" install --disable-pip-version-check \
      --no-deps --require-hashes --requirement "$list"; then
    cp "$list" "$PYTHON_TOOLS/installed.txt"
  else
    show_log python-tools
    fail "the tools of deploy/python-tools.txt could not be installed: PyPI, or the index that pip is set to, \
must be reachable"
  fi
}

refresh_package_lists() {
  say "reading Debian's package lists"
  run_logged package-lists as_root apt-get update \
    || { show_log package-lists; fail "apt-get update failed"; }
}

# Fails with a reason unless a new enough Swift compiler is installed.
need_swift() {
  local text
  command -v swift >/dev/null \
    || fail "no swift in PATH: install a Swift toolchain, $SWIFT_MAJOR.$SWIFT_MINOR or newer"
  text="$(swift --version 2>/dev/null)" || fail "swift --version failed"
  if [[ ! $text =~ Swift\ version\ ([0-9]+)\.([0-9]+) ]]; then
    fail "cannot determine the version of $(command -v swift)"
  fi
  local major=${BASH_REMATCH[1]} minor=${BASH_REMATCH[2]}
  if ((major < SWIFT_MAJOR || (major == SWIFT_MAJOR && minor < SWIFT_MINOR))); then
    fail "Swift $major.$minor is too old: $SWIFT_MAJOR.$SWIFT_MINOR or newer is needed"
  fi
}

# Filters the lines of stdin. Prints errors and failed tests immediately, and the newest other line
# every few seconds.
show_progress() {
  local line part="" newest="" shown=$SECONDS status
  while true; do
    status=0
    IFS= read -r -t "$PROGRESS_INTERVAL" line || status=$?
    if ((status > 128)); then # A timeout: the text read so far is the start of a line.
      part+=$line
    elif ((status != 0)); then
      break
    else
      line=$part$line part=""
      case $line in
        'remark: '* | 'warning: ignoring '*) ;; # They are about compiler flags.
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

# run_logged NAME COMMAND...: runs a long command, writes its output to LOGS/NAME.log and shows its
# progress; returns the status of the command.
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

# The build of deploy/test and deploy/quickstart: debug, except that the targets that only compute are
# optimised (Package.swift). Whole-module compilation without debug information takes two thirds of the
# time. With -num-threads the compiler writes an object for each file, as SwiftPM expects; without it
# each build would compile everything.
readonly QUICK_SCRATCH="$ROOT/.build/tests"
readonly QUICK_BUILD=(
  env OPTIMIZED_TEST_BUILD=1 swift build --package-path "$ROOT" --scratch-path "$QUICK_SCRATCH"
  -debug-info-format none -Xswiftc -disable-batch-mode -Xswiftc -whole-module-optimization
  -Xswiftc -num-threads -Xswiftc 1
)
# The build for measurements and for real use. The Swift runtime is linked into the programs, so that they
# start on machines without a toolchain. It has no debug information, which would take longer to compile;
# backtraces name functions without it.
readonly RELEASE_BUILD=(
  swift build --package-path "$ROOT" --configuration release --static-swift-stdlib -debug-info-format none
)

# build_quick PRODUCT..., build_release PRODUCT...: builds products, and sets `programs` to the folder of
# their programs.
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

# build_products PRODUCT... -- COMMAND...: builds products one by one, because SwiftPM builds either one
# product or everything, including the programs of the tests.
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

# Prints the end of a log, which shows the reason of a failure.
show_log() {
  printf '%s\n' "--- end of $LOGS/$1.log ---" >&2
  tail -n 30 "$LOGS/$1.log" >&2
}

# Prints the folder of the PostgreSQL programs of the newest version. Debian does not add the server's
# programs to PATH.
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

# The folder of the server that start_postgres started; empty while none is running.
postgres_folder=""

# start_postgres PARENT [SETTING=VALUE...]: starts a temporary PostgreSQL server for this script, in a
# new folder under PARENT, with a Unix socket there and without a port. The caller must set a trap that
# calls stop_postgres. The server flushes to the disk as in production.
start_postgres() {
  local parent=$1 setting programs
  local -a settings=("listen_addresses=" "unix_socket_permissions=0700")
  shift
  [[ $parent =~ ^/[A-Za-z0-9/._-]*$ ]] \
    || fail "$parent cannot contain a PostgreSQL server: use a path of letters, digits and ._-/"
  programs="$(postgres_programs)" || fail "no PostgreSQL server is installed"
  postgres_folder="$(mktemp -d "${parent%/}/entitle-postgres.XXXXXX")"
  # PostgreSQL refuses to run as root.
  if ((EUID == 0)); then chown postgres: "$postgres_folder"; fi
  say "starting a PostgreSQL server in $postgres_folder"
  # --auth=trust is safe: the mode of the folder keeps other users away from the socket.
  run_logged postgres-initdb as_postgres "$programs/initdb" --pgdata="$postgres_folder/data" \
    --username=postgres --auth=trust --encoding=UTF8 --locale=C \
    || { show_log postgres-initdb; fail "initdb failed"; }

  settings+=("unix_socket_directories=$postgres_folder" "$@")
  for setting in "${settings[@]}"; do
    printf "%s = '%s'\n" "${setting%%=*}" "${setting#*=}"
  done | as_postgres tee -a "$postgres_folder/data/postgresql.conf" >/dev/null
  # pg_ctl starts the server in its own session, so that an interrupt from the terminal does not end it.
  control_postgres start \
    || { tail -n 20 "$postgres_folder/log" >&2; fail "the PostgreSQL server did not start"; }
}

# postgres_uri ROLE DATABASE: prints the URI of a database of the server that start_postgres started.
postgres_uri() { echo "postgresql://$1@/$2?host=$postgres_folder"; }

# Stops the server that start_postgres started, and deletes its data.
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

# Runs a command as a user that is not root, as PostgreSQL requires, in a folder that this user can
# read.
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
