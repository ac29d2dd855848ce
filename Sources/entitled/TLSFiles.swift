import Cryptography
import EntitlementDomain
import EntitlementService
import Foundation
import Logging
import RPCServer
import ServiceLifecycle
import Synchronization
import UnixSignals

/// The names of the files of TLS.
struct TLSFileNames: Sendable {
  let certificate: String
  let key: String
  /// The authorities of clients; nil: clients are not asked for a certificate.
  let clientAuthorities: String?

  /// The largest file that is read, in bytes: hundreds of certificates.
  private static let maximumBytes = 1_048_576

  var all: [String] { [certificate, key] + (clientAuthorities.map { [$0] } ?? []) }

  /// - Throws: ``Unusable`` with the name of the file.
  func read() throws(Unusable) -> ServerTLS.Files {
    try refuseReadableKey()
    return ServerTLS.Files(
      certificate: try Self.contents(of: certificate), key: try Self.contents(of: key),
      clientAuthorities: try clientAuthorities.map { path throws(Unusable) in
        try Self.contents(of: path)
      })
  }

  struct Unusable: Error, CustomStringConvertible {
    let description: String
  }

  /// The group may read the key: a service usually gets it from root by its group. Other users may
  /// not, whatever the service would do with it.
  private func refuseReadableKey() throws(Unusable) {
    var status = stat()
    if stat(key, &status) == 0, status.st_mode & 0o007 != 0 {
      throw Unusable(description: "\(key): other users may read the key (chmod 640)")
    }
  }

  private static func contents(of path: String) throws(Unusable) -> [UInt8] {
    do throws(FileOnDisk.Unreadable) {
      let bytes = try FileOnDisk(path: path).bytes(limit: maximumBytes)
      if bytes.count <= maximumBytes { return bytes }
    } catch {
      throw Unusable(description: "\(path): \(error)")
    }
    throw Unusable(description: "\(path): larger than \(maximumBytes) bytes")
  }
}

/// The certificate of the server and what operators must know of it. Reloads it from its files.
final class TLSReloader: Sendable {
  let tls: ServerTLS
  let names: TLSFileNames
  private let logger: Logger

  private struct State {
    var files: ServerTLS.Files
    /// Why the files on disk are not in force; nil if they are.
    var fault: String?
    var failures = 0
  }

  private let state: Mutex<State>

  /// A certificate that is valid for less than this time is warned of: time for two weekends.
  private static let warningTime = 14 * Milliseconds.dayLength

  /// - Throws: ``StartFailure``.
  init(_ names: TLSFileNames, logger: Logger) throws(StartFailure) {
    self.names = names
    self.logger = logger
    let files: ServerTLS.Files
    do {
      files = try names.read()
    } catch {
      throw StartFailure(.badConfiguration, "TLS: \(error)")
    }
    do {
      tls = try ServerTLS(files)
    } catch {
      throw StartFailure(.badConfiguration, "TLS: \(error)")
    }
    state = Mutex(State(files: files))
    warn()
  }

  /// Reads the files. What cannot be used leaves the former files in force.
  func reload() {
    let fault: String
    do throws(TLSFileNames.Unusable) {
      let files = try names.read()
      if state.withLock({ $0.files == files && $0.fault == nil }) { return }
      do {
        try tls.replace(with: files)
        state.withLock { state in
          state.files = files
          state.fault = nil
        }
        logger.notice(
          "TLS files reloaded", metadata: ["certificate": "\(tls.certificate.fingerprint)"])
        warn()
        return
      } catch {
        fault = error.description
      }
    } catch {
      fault = error.description
    }
    state.withLock { state in
      state.fault = fault
      state.failures += 1
    }
    logger.error(
      "the TLS files cannot be used; the former ones stay in force",
      metadata: ["reason": "\(fault)"])
  }

  /// Logs what ``warnings`` says.
  func warn() {
    for warning in warnings {
      logger.warning("TLS", metadata: ["issue": "\(warning)"])
    }
  }

  /// What operators must do, a sentence each.
  var warnings: [String] {
    var warnings: [String] = []
    if let fault = state.withLock(\.fault) {
      warnings.append("TLS: the files cannot be used; the former ones stay in force: \(fault)")
    }
    let certificate = tls.certificate
    let left = millisecondsLeft
    if left <= 0 {
      warnings.append("tls_certificate: expired; clients refuse it")
    } else if left < Self.warningTime {
      warnings.append("tls_certificate: expires in \(Milliseconds.days(in: left))")
    }
    if certificate.alternativeNames.isEmpty, !certificate.hasExtension("2.5.29.17") {
      warnings.append("tls_certificate: has no subject alternative name; clients refuse it")
    }
    return warnings
  }

  private var millisecondsLeft: Int64 {
    tls.certificate.validity.upperBound - Int64(Date().timeIntervalSince1970 * 1_000)
  }

  var values: [StatisticValue] {
    [
      StatisticValue("tls.certificate_seconds_left", Int(max(0, millisecondsLeft / 1_000))),
      StatisticValue(
        "tls.certificate_expires_seconds", tls.certificate.validity.upperBound / 1_000),
      StatisticValue("tls.reload_failures", state.withLock(\.failures)),
      StatisticValue("tls.last_reload_valid", state.withLock(\.fault) == nil ? 1 : 0),
    ]
  }
}

/// Reloads the files of TLS on SIGHUP and when one changes, and repeats warnings daily.
struct TLSService: Service {
  /// Nil without TLS.
  let reloader: TLSReloader?
  let hangups: UnixSignalsSequence

  private static let warningInterval = Duration.seconds(86_400)

  func run() async throws {
    guard let reloader else {
      try? await gracefulShutdown()
      return
    }
    await cancelWhenGracefulShutdown {
      await withDiscardingTaskGroup { group in
        group.addTask { for await _ in hangups { reloader.reload() } }
        group.addTask { await reloadOnChange(reloader) }
        group.addTask {
          while true {
            try? await Task.sleep(for: Self.warningInterval)
            if Task.isCancelled { return }
            reloader.warn()
          }
        }
      }
    }
  }

  private func reloadOnChange(_ reloader: TLSReloader) async {
    let polling = FilePolling(files: reloader.names.all.map { FileOnDisk(path: $0) })
    // The files were read before: a change in between is found by a first reload, which changes
    // nothing if there was none.
    let seen = polling.files.map(\.version)
    reloader.reload()
    await polling.run(seen: seen) {
      reloader.reload()
      return false
    }
  }
}
