import AccessControl
import Cryptography
import Foundation
import Framing
import Glibc
import LoadClient
import PostgresBulkLoader
import StoreSimulator
import TLSSupport
import TestSupport
import Wire

/// An `entitled` process on its own address, started from the folder of this program. It is killed
/// when this object is released.
final class EntitledProcess {
  /// The addresses that it listens on for frames.
  let addresses: [ServerAddress]
  /// Its HTTP addresses, such as `http:127.0.0.1:7180`.
  private let httpAddresses: [String]
  private let program: Subprocess
  private let folder: TemporaryFolder

  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  /// The kind of address.
  enum Listener {
    case unixSocket
    /// A free port of the loopback address.
    case tcp
  }

  private static let patience = Duration.seconds(30)
  /// Between two checks whether it listens: short compared with its start.
  private static let interval = Duration.milliseconds(5)

  /// Starts it, and waits until it listens.
  ///
  /// - Parameters:
  /// - store: the value of `--store`.
  ///   - catalog: YAML.
  /// - arguments: further arguments.
  ///   - listeners: the number of its listeners.
  /// - processor: the only processor that it may use; nil for all processors of this thread.
  /// - Throws: ``Failure`` with its log when it ends or does not listen in time.
  init(
    store: String, listener: Listener = .unixSocket, catalog: String = SimulatedApp.catalogYAML,
    arguments: [String] = [], listeners: Int = 1, processor: Int? = nil
  ) async throws {
    folder = try TemporaryFolder()
    let log = folder.file("log")
    let catalogFile = try folder.write(catalog, to: "catalog.yaml")
    let listening =
      switch listener {
      case .unixSocket: "unix:\(folder.file("socket"))"
      case .tcp: "127.0.0.1:0"
      }
    let command =
      [
        Self.path(of: "entitled"), "--listen", listening, "--catalog", catalogFile, "--store",
        store, "--log-format", "json",
      ] + (store.hasPrefix("sqlite:") ? ["--create"] : []) + arguments
    program = try ProcessorAffinity.with(processor) {
      try Subprocess(command, errors: .file(log))
    }
    let deadline = ContinuousClock.now + Self.patience
    while true {
      let addresses = Self.listeningAddresses(in: log)
      if addresses.count == listeners {
        func isHTTP(_ address: String) -> Bool {
          address.hasPrefix("http:") || address.hasPrefix("webhook:")
        }
        self.addresses = try addresses.filter { !isHTTP($0) }.map { try ServerAddress(parsing: $0) }
        httpAddresses = addresses.filter(isHTTP)
        return
      }
      guard ContinuousClock.now < deadline, !program.hasEnded else {
        let text = (try? String(contentsOfFile: log, encoding: .utf8)) ?? ""
        throw Failure(description: "entitled did not start: \(text.suffix(2_000))")
      }
      try await Task.sleep(for: Self.interval)
    }
  }

  /// The port of its listener for `http` or `webhook`.
  func port(of name: String) throws -> UInt16 {
    let address = httpAddresses.first { $0.hasPrefix(name + ":") }
    guard let port = address?.split(separator: ":").last.flatMap({ UInt16($0) }) else {
      throw Failure(description: "entitled does not listen for \(name)")
    }
    return port
  }

  /// The first address that it listens on.
  var address: ServerAddress { addresses[0] }

  /// Arguments for a second listener, with TLS and a new certificate on P-256.
  static func encryption(in folder: TemporaryFolder) throws -> [String] {
    let pair = try TLSAuthority("authority", in: folder).issue("server")
    return [
      "--listen", "tls:127.0.0.1:0", "--tls-certificate", pair.certificate, "--tls-key", pair.key,
    ]
  }

  /// Arguments for access control with one caller, who has limits that are never reached, so that
  /// they are counted, and its token.
  static func accessControl(
    in folder: TemporaryFolder
  ) throws -> (arguments: [String], token: String) {
    let token = AccessToken()
    let file = try folder.write(
      """
      version: 1
      callers:
        - name: benchmark
          roles: [admin]
          tokens: [{id: \(token.id), sha256: "\(try token.digest.hexadecimal)", expires: never}]
          limits: {reads_per_second: 100000000, in_flight: 1000000, connections: 100000}
      """, to: "credentials.yaml")
    return (["--credentials", file], token.text)
  }

  var identifier: pid_t { program.identifier }

  /// User and system time of all its threads, including ended ones, in microseconds.
  var processorTime: Double { ProcessorTime.used(by: program.identifier) }

  /// Its private memory in bytes: anonymous resident memory (proc(5), `RssAnon`).
  var ownMemory: Int { memory("RssAnon") }

  /// Its resident memory in bytes, including code and shared pages.
  var residentMemory: Int { memory("VmRSS") }

  /// The most resident memory that it has had, in bytes.
  var peakMemory: Int { memory("VmHWM") }

  private func memory(_ name: String) -> Int {
    // proc(5): "VmRSS:      5024 kB".
    let status = try? String(contentsOfFile: "/proc/\(identifier)/status", encoding: .utf8)
    let line = status?.split(separator: "\n").first { $0.hasPrefix(name + ":") }
    return line.flatMap { Int($0.split(whereSeparator: \.isWhitespace)[1]) }.map { $0 * 1_024 } ?? 0
  }

  /// Stops it with SIGTERM, within its `--shutdown-seconds`.
  ///
  /// - Throws: ``Subprocess/Failure`` when it ended with an error.
  func stop() throws {
    program.signal(SIGTERM)
    try program.end()
  }

  /// Kills it.
  func kill() {
    program.signal(SIGKILL)
    // It ends by the signal.
    _ = try? program.end()
  }

  /// The path of a program in the folder of this one.
  static func path(of program: String) -> String {
    let own = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
    return URL(filePath: own).deletingLastPathComponent().appending(path: program).path
  }

  private struct LogLine: Decodable {
    let message: String
    let address: String?
  }

  /// The addresses that are in the log yet.
  private static func listeningAddresses(in log: String) -> [String] {
    guard let text = try? Data(contentsOf: URL(filePath: log)) else { return [] }
    return text.split(separator: UInt8(ascii: "\n")).compactMap { line in
      // An incomplete line is read the next time.
      let line = try? JSONDecoder().decode(LogLine.self, from: line)
      return line?.message == "listening" ? line?.address : nil
    }
  }
}
