import Foundation

/// The program `openssl`. Tests that need it are skipped when it is absent.
package enum OpenSSL {
  /// Nil where it is not installed.
  package static let path: String? = (ProcessInfo.processInfo.environment["PATH"] ?? "")
    .split(separator: ":").map { "\($0)/openssl" }
    .first { FileManager.default.isExecutableFile(atPath: $0) }

  package static var isInstalled: Bool { path != nil }
}
