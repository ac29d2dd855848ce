import Foundation
import TestSupport
import Testing

@testable import LoadClient

@Suite("Loading customers in bulk", .timeLimit(.minutes(2)))
struct BulkLoaderTests {
  @Test("as many workers as are asked for load at a time, however few processors there are")
  func workers() async throws {
    let workers = ProcessInfo.processInfo.activeProcessorCount + 3
    let folder = try TemporaryFolder()
    // In place of psql: queries are answered, and a session goes on only when all are there.
    let program = try folder.program(
      """
      case "$*" in *--field-separator*) cat > /dev/null; echo 1; exit;; esac
      touch "\(folder.path)/session.$$"
      tries=0
      while [ "$(ls "\(folder.path)" | grep -c session)" -lt \(workers) ]; do
        tries=$((tries + 1)); [ $tries -lt 600 ] || exit 1
        sleep 0.05
      done
      cat > /dev/null
      """)
    try await BulkLoader(
      database: Psql(uri: "postgresql:///none", program: program),
      customers: try BulkCustomers(count: 1, seed: 1), workers: workers,
      progress: Progress(interval: .seconds(60))
    ).run()
  }
}

extension TemporaryFolder {
  /// A program of the shell.
  ///
  /// - Returns: its path.
  func program(_ script: String) throws -> String {
    let path = try write("#!/bin/sh\n\(script)\n", to: "program")
    try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: path)
    return path
  }
}
