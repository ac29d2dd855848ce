import EntitlementDomain
import EntitlementStore
import Foundation
import TestSupport
import Testing

@testable import PostgresBulkLoader

@Suite("Loading customers in bulk", .timeLimit(.minutes(2)))
struct BulkLoaderTests {
  @Test("all workers load at the same time, whatever the number of processors")
  func workers() async throws {
    let workers = ProcessInfo.processInfo.activeProcessorCount + 3
    let folder = try TemporaryFolder()
    // Replaces psql: answers queries, and blocks each session until all sessions are open.
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
      customers: OneCustomer(), workers: workers, progress: NoProgress()
    ).run()
  }
}

private struct OneCustomer: BulkSource {
  let scope = AppScope(bundleID: "com.example.scribe", environment: .production)
  let count = 1
  let firstAccount = 1_000_000_000
  let header: [UInt8] = Array("header".utf8)

  func submission(at index: Int) throws -> Submission {
    Submission(
      facts: [], accountID: AccountID(String(firstAccount + index)), receivedAt: 1,
      catalog: Catalog())
  }
}

private struct NoProgress: BulkProgress {
  func start(_ name: String, of total: Int) {}
  func advance(by count: Int) {}
  func end() {}
  func say(_ text: String) {}
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
