import Synchronization

/// Makes faults, and repairs them as an operator would.
final class FaultRunner: Sendable {
  private let pair: DatabasePair
  private let servers: [EntitledNode]
  private let counts = Mutex<[Fault.Kind: Int]>([:])

  /// Cuts that no connection has taken by then are withdrawn.
  private static let cutPatience = Duration.seconds(5)

  init(pair: DatabasePair, servers: [EntitledNode]) {
    self.pair = pair
    self.servers = servers
  }

  /// Returns when everything runs again.
  func run(_ fault: Fault) async throws {
    counts.withLock { $0[fault.kind, default: 0] += 1 }
    switch fault {
    case .killServer(let index, let time):
      await servers[index].kill()
      try await Task.sleep(for: .milliseconds(time))
      try await servers[index].start()
    case .killDatabase(let time):
      await pair.primary.kill()
      try await Task.sleep(for: .milliseconds(time))
      try await pair.primary.start()
    case .failOver(let lag):
      try await pair.failOver(lag: .milliseconds(lag))
    case .cutConnections(let rules):
      try await cut(rules)
    case .fillDisk(let time):
      try await pair.primary.folder.fill()
      try await sleepAnyhow(.milliseconds(time)) { try await pair.primary.folder.relieve() }
      // It may have exited meanwhile.
      try await pair.primary.start()
    case .freezeDatabase(let time):
      pair.primary.freeze()
      try await sleepAnyhow(.milliseconds(time)) { pair.primary.thaw() }
    }
    try await pair.awaitSynchronous()
  }

  private func cut(_ rules: [CutRule]) async throws {
    let before = pair.orders.doneCount
    pair.orders.order(rules)
    let deadline = ContinuousClock.now + Self.cutPatience
    while pair.orders.doneCount < before + rules.count, ContinuousClock.now < deadline {
      try await Task.sleep(for: .milliseconds(50))
    }
    pair.orders.withdraw()
  }

  /// Repairs also when the run is interrupted.
  private func sleepAnyhow(_ time: Duration, mend: () async throws -> Void) async throws {
    let slept: Result<Void, any Error>
    do {
      slept = .success(try await Task.sleep(for: time))
    } catch {
      slept = .failure(error)
    }
    try await mend()
    try slept.get()
  }

  var text: String {
    counts.withLock { counts in
      Fault.Kind.allCases.map { "\($0.rawValue) \(counts[$0] ?? 0)" }.joined(separator: ", ")
        + ", connections cut \(pair.orders.doneCount)"
    }
  }
}
