import Foundation
import Glibc
import LoadClient
import StoreSimulator
import TestSupport
import Wire

/// A whole `entitled`, the program beside this one, on an address of its own. It is killed when nobody
/// holds this any more.
final class EntitledProcess {
  /// The first that it listens on.
  let address: ServerAddress
  private let program: Subprocess
  private let folder: TemporaryFolder

  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  /// Where it listens.
  enum Listener {
    case unixSocket
    /// A free port of the loopback address.
    case tcp
  }

  private static let patience = Duration.seconds(30)
  /// Between looks at whether it listens: short against the time that it takes to start.
  private static let interval = Duration.milliseconds(5)

  /// Starts it, and waits until it listens.
  ///
  /// - Parameters:
  ///   - store: as `--store` takes it.
  ///   - catalog: YAML.
  ///   - arguments: more of the command line.
  ///   - processor: the only one that it may use; nil: all that this thread may.
  /// - Throws: ``Failure`` with what it logged when it ends or does not listen in time.
  init(
    store: String, listener: Listener = .unixSocket, catalog: String = SimulatedApp.catalogYAML,
    arguments: [String] = [], processor: Int? = nil
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
      ] + arguments
    program = try ProcessorAffinity.with(processor) {
      try Subprocess(command, errors: .file(log))
    }
    let deadline = ContinuousClock.now + Self.patience
    while true {
      if let address = Self.listeningAddress(in: log) {
        self.address = try ServerAddress(parsing: address)
        return
      }
      guard ContinuousClock.now < deadline, !program.hasEnded else {
        let text = (try? String(contentsOfFile: log, encoding: .utf8)) ?? ""
        throw Failure(description: "entitled did not start: \(text.suffix(2_000))")
      }
      try await Task.sleep(for: Self.interval)
    }
  }

  var identifier: pid_t { program.identifier }

  /// User and system time of all its threads, those that ended included, in microseconds.
  var processorTime: Double { ProcessorTime.used(by: program.identifier) }

  /// What is its own, in bytes: anonymous memory that is resident (proc(5), `RssAnon`).
  var ownMemory: Int { memory("RssAnon") }

  /// All that is resident, in bytes: with its code and what it shares with others.
  var residentMemory: Int { memory("VmRSS") }

  private func memory(_ name: String) -> Int {
    // proc(5): "VmRSS:      5024 kB".
    let status = try? String(contentsOfFile: "/proc/\(identifier)/status", encoding: .utf8)
    let line = status?.split(separator: "\n").first { $0.hasPrefix(name + ":") }
    return line.flatMap { Int($0.split(whereSeparator: \.isWhitespace)[1]) }.map { $0 * 1_024 } ?? 0
  }

  /// Stops it in order, within its own `--shutdown-seconds`.
  ///
  /// - Throws: ``Subprocess/Failure`` when it ended with an error.
  func stop() throws {
    program.signal(SIGTERM)
    try program.end()
  }

  /// Of a program that is built beside this one.
  static func path(of program: String) -> String {
    let own = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
    return URL(filePath: own).deletingLastPathComponent().appending(path: program).path
  }

  private struct LogLine: Decodable {
    let message: String
    let address: String?
  }

  /// Nil as long as it has not logged it.
  private static func listeningAddress(in log: String) -> String? {
    guard let text = try? Data(contentsOf: URL(filePath: log)) else { return nil }
    for line in text.split(separator: UInt8(ascii: "\n")) {
      // A line that is not whole yet is read the next time.
      let line = try? JSONDecoder().decode(LogLine.self, from: line)
      if let line, line.message == "listening" { return line.address }
    }
    return nil
  }
}
