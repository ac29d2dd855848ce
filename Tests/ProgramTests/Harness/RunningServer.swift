import Foundation
import Framing
import RPCClient
import Wire

/// A running `entitled`. It is killed when this object is released.
final class RunningServer: Sendable {
  private let child: ChildProcess
  let addresses: [ServerAddress]
  /// Where callers by HTTP connect.
  let httpAddresses: [ServerAddress]
  /// Where the App Store posts its notifications.
  let webhookAddresses: [ServerAddress]
  /// Where probes connect.
  let probeAddresses: [ServerAddress]

  /// One line of its log.
  struct LogLine: Decodable, Sendable {
    let time: String
    let level: String
    let logger: String
    let message: String
    let address: String?
    let calls: Int?
    let verified: Int?
    let verdict: String?
    let digest: String?
    let reason: String?
    let version: String?
    let issue: String?
    let connections: Int?
    let node: String?
  }

  /// - Parameter listening: The addresses of its log.
  private init(child: ChildProcess, listening: [String]) throws {
    self.child = child
    func parsed(after prefix: String) throws -> [ServerAddress] {
      try listening.filter { $0.hasPrefix(prefix) }
        .map { try ServerAddress(parsing: String($0.dropFirst(prefix.count))) }
    }
    httpAddresses = try parsed(after: Self.httpPrefix)
    webhookAddresses = try parsed(after: Self.webhookPrefix)
    probeAddresses = try parsed(after: Self.probePrefix)
    let prefixes = [Self.httpPrefix, Self.webhookPrefix, Self.probePrefix]
    addresses =
      try listening
      .filter { address in !prefixes.contains { address.hasPrefix($0) } }
      .map { try ServerAddress(parsing: $0) }
  }

  private static let httpPrefix = "http:"
  private static let webhookPrefix = "webhook:"
  private static let probePrefix = "probe:"

  deinit {
    child.signal(SIGKILL)
  }

  /// Starts a server, and waits until it listens.
  ///
  /// - Parameters:
  /// - arguments: must select a log in JSON.
  ///   - script: see ``ChildProcess``.
  ///   - largestFile: in KiB; see ``ChildProcess``.
  /// - Throws: ``HarnessFailure`` with its output when it ends instead.
  static func start(
    _ arguments: [String], listeners: Int = 1, through script: String? = nil,
    largestFile: Int? = nil
  ) async throws -> RunningServer {
    let child = try ChildProcess(
      .entitled, arguments, through: script, largestFile: largestFile)
    do {
      let addresses = try await child.journal.first("listening server") { contents in
        if let exit = contents.exit {
          throw HarnessFailure("the server ended with \(exit):\n\(contents.errorText)")
        }
        // Text that is no log line is the reason of a failed start; the exit follows.
        let log = (try? log(in: contents)) ?? []
        let addresses = log.filter { $0.message == "listening" }.compactMap(\.address)
        return addresses.count == listeners ? addresses : nil
      }
      return try RunningServer(child: child, listening: addresses)
    } catch {
      child.signal(SIGKILL)
      throw error
    }
  }

  /// The first listening address of the framed front.
  var address: ServerAddress { addresses[0] }

  /// The log so far; every line must be a JSON object.
  var log: [LogLine] {
    get throws { try Self.log(in: child.journal.contents) }
  }

  var logText: String { child.journal.contents.errorText }
  var outputText: String { child.journal.contents.outputText }

  private static func log(in contents: ProcessJournal.Contents) throws -> [LogLine] {
    try contents.errorLines.map { line in
      do {
        return try JSONDecoder().decode(LogLine.self, from: Data(line.utf8))
      } catch {
        throw HarnessFailure("not a line of the log: \(line)")
      }
    }
  }

  /// Waits for a log line with this message, or for `count` such lines.
  ///
  /// - Returns: the last of these lines.
  @discardableResult
  func logged(_ message: String, times count: Int = 1) async throws -> LogLine {
    try await child.journal.first("log line \"\(message)\", \(count) times") { contents in
      let lines = try Self.log(in: contents).filter { $0.message == message }
      return lines.count >= count ? lines[count - 1] : nil
    }
  }

  /// Waits for a line with this message and this reason.
  @discardableResult
  func logged(_ message: String, because reason: String) async throws -> LogLine {
    try await child.journal.first("log line \"\(message)\" because \(reason)") { contents in
      try Self.log(in: contents).first { $0.message == message && $0.reason == reason }
    }
  }

  /// A client that makes every call once, so that tests see each answer.
  func client() async throws -> EntitlementClient {
    try await EntitlementClient.connect(
      to: address,
      configuration: EntitlementClientConfiguration(
        timeout: .seconds(ProcessJournal.patience), retries: .off))
  }

  /// Its resident memory in bytes (proc(5), `VmRSS`).
  var residentMemory: Int {
    get throws { try child.status("VmRSS") * 1_024 }
  }

  /// User and system time of all its threads, in seconds.
  var processorTime: Double {
    get throws { try child.processorTime }
  }

  /// Changes its soft limit of open files.
  func setOpenFiles(_ count: Int) throws {
    try child.setOpenFiles(count)
  }

  func signal(_ number: Int32) {
    child.signal(number)
  }

  func exit() async throws -> ProgramExit {
    try await child.exit()
  }

  /// Stops it with a signal and waits for its end.
  func stop(_ signal: Int32 = SIGTERM) async throws -> ProgramExit {
    child.signal(signal)
    return try await child.exit()
  }
}
