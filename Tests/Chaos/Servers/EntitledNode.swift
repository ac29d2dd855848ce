import Framing
import Glibc
import RPCClient
import Synchronization
import Wire

/// One `entitled` of the run, on a constant port.
final class EntitledNode: Sendable {
  let name: String
  let address: ServerAddress
  private let command: [String]
  private let folder: String
  private let logPath: String
  private let process = Mutex<LocalProcess?>(nil)

  private static let startLimit = Duration.seconds(90)

  /// - Parameter folder: its working directory.
  init(name: String, command: [String], port: Int, folder: String, logPath: String) throws {
    self.name = name
    self.address = try ServerAddress(parsing: "127.0.0.1:\(port)")
    self.command = command + ["--listen", "127.0.0.1:\(port)"]
    self.folder = folder
    self.logPath = logPath
  }

  /// Starts it, again when it exits since the database cannot be reached, and waits until it
  /// serves.
  func start() async throws {
    let deadline = ContinuousClock.now + Self.startLimit
    while true {
      if !isRunning {
        let launched = try LocalProcess(command, in: folder, output: (logPath, logPath))
        process.withLock { $0 = launched }
      }
      if await isServing() { return }
      guard ContinuousClock.now < deadline else {
        throw ChaosFailure("\(name) does not start; its log is \(logPath)")
      }
      try await Task.sleep(for: .milliseconds(200))
    }
  }

  var isRunning: Bool { process.withLock { $0?.isRunning ?? false } }

  func kill() async {
    let process = process.withLock { $0 }
    process?.signal(SIGKILL)
    await process?.end()
  }

  /// Stops it with SIGTERM.
  ///
  /// - Returns: the status from `waitpid`: 0 is success.
  func stop() async -> Int32 {
    guard let process = process.withLock({ $0 }) else { return 0 }
    process.signal(SIGTERM)
    return await process.end()
  }

  func isServing() async -> Bool {
    guard
      let client = try? await EntitlementClient.connect(
        to: address, configuration: .impatient(timeout: .seconds(5)))
    else { return false }
    let answer = try? await client.health()
    await client.close()
    return answer?.status == .serving
  }
}
