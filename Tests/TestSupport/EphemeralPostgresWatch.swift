import Foundation

/// Stops a cluster and removes its folder when this object is released or this process ends. A
/// shell in its own session waits for the end of a socket whose other end only this process has.
final class EphemeralPostgresWatch: Sendable {
  private let descriptor: CInt

  init(_ folder: String) throws {
    var ends: [CInt] = [-1, -1]
    // Close-on-exec, so that programs started by this process do not inherit it.
    let kind = CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
    guard socketpair(AF_UNIX, kind, 0, &ends) == 0 else {
      throw EphemeralPostgresError("no sockets for the guard of a PostgreSQL server")
    }
    descriptor = ends[1]
    defer { close(ends[0]) }
    do {
      // The shell is not waited for: it ends after this process, or soon after this object is
      // released.
      _ = try EphemeralPostgresProgram.start(
        ["/bin/sh", "-c", Self.script, "entitle-postgres-watch", folder], input: ends[0])
    } catch {
      close(descriptor)
      throw error
    }
  }

  deinit { close(descriptor) }

  /// The shell kills only processes whose parent is the postmaster.
  private static let script = """
    trap '' HUP INT TERM
    cat > /dev/null
    server=$(head -n 1 "$1/data/postmaster.pid" 2>/dev/null)
    if [ -n "$server" ] && [ "$(readlink "/proc/$server/cwd")" = "$1/data" ]; then
      workers=$(grep -ls "^PPid:[[:space:]]*$server\\$" /proc/[0-9]*/status | cut -d / -f 3)
      kill -9 $server $workers
    fi
    for attempt in 1 2 3 4 5; do
      rm -rf "$1" && break
      sleep 1
    done
    """
}
