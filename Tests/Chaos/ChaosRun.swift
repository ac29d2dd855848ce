import EntitlementDomain
import EntitlementStore
import Foundation
import Glibc
import Logging
import PostgresStore
import StoreSimulator
import Synchronization

/// One run: starts the programs, makes faults while clients go on, checks, and reports.
final class ChaosRun: Sendable {
  private struct Parts: Sendable {
    let pair: DatabasePair
    let servers: [EntitledNode]
    let store: any EntitlementStore
    let load: LoadContext
    let watchers: [FeedWatcher]
    let checker: Checker
    let faults: FaultRunner
  }

  private let seed: UInt64
  private let minutes: Int
  private let folder: String
  private let logs: String
  private let programs: DatabasePrograms
  private let journal = Journal()
  private let findings: Findings
  private let pairStarted = Mutex<DatabasePair?>(nil)

  private static let serverCount = 3
  /// The number of clients of each kind.
  private static let submitters = 6
  private static let claimers = 6
  private static let operators = 2
  private static let readers = 6
  private static let progressInterval = Duration.seconds(10)
  private static let healthLimit = Duration.seconds(90)

  init(seed: UInt64, minutes: Int, folder: String, logs: String, programs: DatabasePrograms) {
    self.seed = seed
    self.minutes = minutes
    self.folder = folder
    self.logs = logs
    self.programs = programs
    findings = Findings(journal: journal)
  }

  /// - Returns: whether there were no findings.
  func run() async throws -> Bool {
    let plan = FaultPlan(seed: seed, minutes: minutes, servers: Self.serverCount)
    tellPlan(plan)
    let parts = try await start()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for watcher in parts.watchers { group.addTask { await watcher.run() } }
      group.addTask { await self.tellProgress(parts) }
      let noise = TransactionNoise(pair: parts.pair, folder: folder)
      group.addTask { await noise.run() }
      try await awaitHealth(parts)
      try await breakThings(plan, parts)
      journal.tell("clients have ended; checking everything")
      try await awaitHealth(parts)
      try await parts.checker.checkAll()
      group.cancelAll()
    }
    await stop(parts)
    tellSummary(parts)
    return findings.total == 0
  }

  // MARK: Parts

  private func start() async throws -> Parts {
    let files = FileManager.default
    try files.createDirectory(atPath: folder, withIntermediateDirectories: true)
    try files.createDirectory(atPath: logs, withIntermediateDirectories: true)
    // The database user must be able to reach its data in this folder.
    chmod(folder, 0o711)
    journal.tell("starting the databases")
    let pair = try await DatabasePair.start(in: folder, logs: logs, programs: programs)
    pairStarted.withLock { $0 = pair }
    journal.tell("a full disk is \(pair.primary.folder.description)")
    let catalog = try CatalogText()
    let authority = try SigningAuthority.generate()
    let servers = try makeServers(pair, catalog, authority)
    for server in servers { try await server.start() }
    journal.tell("\(servers.count) servers serve")
    var logger = Logger(label: "chaos")
    logger.logLevel = .critical
    let store = try await PostgresStore.open(
      PostgresStoreConfiguration(connection: pair.directConnection), logger: logger)
    let now = Milliseconds(Int64(Date().timeIntervalSince1970 * 1_000))
    let load = try LoadContext(
      servers: servers, stock: CustomerStock(seed: seed, authority: authority, now: now),
      findings: findings, seed: seed)
    let watchers = [
      FeedWatcher(load, name: "watcher of all", client: 901, isFromBeginning: true),
      FeedWatcher(load, name: "watcher from now", client: 902, isFromBeginning: false),
      // Most changes do not concern its accounts: its cursor moves without messages.
      FeedWatcher(
        load, name: "watcher of few", client: 903, accounts: Set(LoadContext.claimers.prefix(1)),
        isFromBeginning: false),
    ]
    return Parts(
      pair: pair, servers: servers, store: store, load: load, watchers: watchers,
      checker: Checker(
        load: load, pair: pair, store: store, watchers: watchers, catalog: catalog),
      faults: FaultRunner(pair: pair, servers: servers))
  }

  private func makeServers(
    _ pair: DatabasePair, _ catalog: CatalogText, _ authority: SigningAuthority
  ) throws -> [EntitledNode] {
    // In the folder of this program.
    let own = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
    let program = own.deletingLastPathComponent().appending(path: "entitled").path
    let catalogPath = folder + "/catalog.yaml"
    try Data(catalog.text.utf8).write(to: URL(filePath: catalogPath))
    return try (1...Self.serverCount).map { number in
      var command = [
        program, "--catalog", catalogPath, "--store", pair.connection(preferring: "read-write"),
        "--trust-root", "production=\(authority.rootFingerprint)", "--staleness-seconds",
        "\(LoadContext.staleness.components.seconds)", "--verification-workers", "2",
        "--cache-megabytes", "16",
      ]
      // One of the servers may read from the standby.
      if number == Self.serverCount {
        command += ["--store-replica", pair.connection(preferring: "prefer-standby")]
      }
      return try EntitledNode(
        name: "server \(number)", command: command, port: try FreePort.find(), folder: folder,
        logPath: "\(logs)/entitled-\(number).log")
    }
  }

  // MARK: Breaking

  private func breakThings(_ plan: FaultPlan, _ parts: Parts) async throws {
    let load = parts.load
    try await awaitWatchers(parts)
    try await withThrowingTaskGroup(of: Void.self) { group in
      var client = 0
      func add(_ count: Int, _ run: @escaping @Sendable (Int) async throws -> Void) {
        for _ in 0..<count {
          client += 1
          let number = client
          group.addTask { try await run(number) }
        }
      }
      add(Self.submitters) { try await Submitter(load, client: $0).run() }
      add(Self.claimers) { await Claimer(load, client: $0).run() }
      add(Self.operators) { await ChainOperator(load, client: $0).run() }
      add(Self.readers) { await Reader(load, client: $0).run() }
      let end = journal.elapsed + .seconds(60 * minutes)
      for step in plan.steps where journal.elapsed < end {
        try await Task.sleep(for: .milliseconds(step.pause))
        journal.tell("\(step.fault)")
        try await parts.faults.run(step.fault)
        let mended = journal.elapsed
        try await awaitHealth(parts)
        let time = Self.text(journal.elapsed - mended)
        try await parts.checker.check()
        journal.tell("  healthy \(time) s after it was mended, checked")
      }
      load.stop()
      try await group.waitForAll()
    }
  }

  private static func text(_ time: Duration) -> String {
    let milliseconds =
      time.components.seconds * 1_000
      + time.components.attoseconds / 1_000_000_000_000_000
    return "\(milliseconds / 1_000).\(milliseconds % 1_000 / 100)"
  }

  /// The watchers without a cursor must be connected before the first change.
  private func awaitWatchers(_ parts: Parts) async throws {
    let deadline = ContinuousClock.now + Self.healthLimit
    while !parts.watchers.allSatisfy(\.hasStarted) {
      guard ContinuousClock.now < deadline else {
        throw ChaosFailure("a watch has sent no cursor")
      }
      try await Task.sleep(for: .milliseconds(50))
    }
  }

  private func awaitHealth(_ parts: Parts) async throws {
    let deadline = ContinuousClock.now + Self.healthLimit
    let probe = HealthProbe(load: parts.load)
    for server in parts.servers {
      while !(try await probe.isWell(server)) {
        guard ContinuousClock.now < deadline else {
          findings.add(.notHealthy, server.name)
          throw ChaosFailure("\(server.name) does not recover")
        }
        try await Task.sleep(for: .milliseconds(100))
      }
    }
  }

  // MARK: Ending

  private func stop(_ parts: Parts) async {
    await parts.store.close()
    for server in parts.servers {
      let status = await server.stop()
      if status != 0 { findings.add(.notStopped, "\(server.name): status \(status)") }
    }
  }

  /// Ends every process of the run and removes its data.
  func cleanUp(keeping isKept: Bool) async {
    let pair = pairStarted.withLock { $0 }
    await pair?.stop()
    await ProcessTable.killAll(in: folder)
    guard !isKept else {
      journal.tell("the data is in \(folder)")
      return
    }
    for node in pair?.nodes ?? [] { await node.folder.remove() }
    try? FileManager.default.removeItem(atPath: folder)
  }

  // MARK: Telling

  private func tellPlan(_ plan: FaultPlan) {
    journal.tell("seed \(seed), \(minutes) minutes; what breaks, as far as the time goes:")
    for (number, step) in plan.steps.enumerated() {
      journal.tell("  \(number + 1). after \(step.pause) ms: \(step.fault)")
    }
  }

  private func tellProgress(_ parts: Parts) async {
    while (try? await Task.sleep(for: Self.progressInterval)) != nil {
      journal.tell("  … \(parts.load.counters.text)")
    }
  }

  private func tellSummary(_ parts: Parts) {
    journal.tell("did: \(parts.faults.text)")
    journal.tell("clients: \(parts.load.counters.text)")
    let contents = parts.load.record.contents
    let answered = contents.facts.values.count { $0.answered != nil }
    journal.tell(
      "checked: \(answered) answered facts, \(contents.notifications.count) notifications, "
        + "\(contents.claims.values.reduce(0, +)) links and claims, "
        + "\(contents.changes.count) operator changes, \(parts.load.board.accounts.count) accounts, "
        + "\(parts.watchers.map(\.sequences.count).max() ?? 0) changes of the feed")
    if findings.total == 0 {
      journal.tell("found: nothing (seed \(seed))")
    } else {
      journal.tell(
        "found \(findings.total) (seed \(seed)): " + findings.lines.joined(separator: "; "))
    }
  }
}
