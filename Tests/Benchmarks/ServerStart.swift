import LoadClient
import RPCClient

/// One start of `entitled` with an existing database (P9).
struct ServerStart {
  /// From the start of the program to its first answer.
  let milliseconds: Double
  /// After that answer, including code and files that are mapped.
  let residentMegabytes: Double
  /// Its private memory after that answer.
  let ownMegabytes: Double

  /// Starts a server, and stops it after its first answer.
  ///
  /// - Parameters:
  ///   - store: the value of `--store`.
  ///   - customer: the index of the customer of the database that it is asked for.
  init(store: String, customer: Int) async throws {
    let started = ContinuousClock.now
    let server = try await EntitledProcess(store: store)
    let connection = try await RPCConnection.connect(to: server.address)
    _ = try await connection.answer(CustomerCalls.state(of: customer))
    milliseconds = (ContinuousClock.now - started) / .milliseconds(1)
    residentMegabytes = Double(server.residentMemory) / 1e6
    ownMegabytes = Double(server.ownMemory) / 1e6
    await connection.close()
    try server.stop()
  }
}
