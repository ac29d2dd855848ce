import EntitlementDomain
import Synchronization
import TestSupport

/// The shared state of all clients of a run.
final class LoadContext: Sendable {
  let servers: [EntitledNode]
  let stock: CustomerStock
  let record = AnswerRecord()
  let board = RevisionBoard(memory: LoadContext.stalenessAllowed)
  let counters = LoadCounters()
  let findings: Findings
  let seed: UInt64
  let contested: [ContestedChain]
  private let isOver = Mutex(false)
  private let nextCustomer: Mutex<Int>

  /// The staleness bound that the servers are configured with.
  static let staleness = Duration.seconds(5)
  /// The bound, and the delay of a busy machine between an answer and its recording.
  static let stalenessAllowed = staleness + .seconds(2)
  /// The number of customers whose payloads other accounts claim.
  private static let contestedCount = 12

  init(servers: [EntitledNode], stock: CustomerStock, findings: Findings, seed: UInt64) throws {
    self.servers = servers
    self.stock = stock
    self.findings = findings
    self.seed = seed
    var contested: [ContestedChain] = []
    var index = 0
    while contested.count < Self.contestedCount {
      if let chain = try ContestedChain(stock.customer(at: index)) { contested.append(chain) }
      index += 1
    }
    self.contested = contested
    nextCustomer = Mutex(0)
  }

  /// The clients end after their current call.
  func stop() { isOver.withLock { $0 = true } }

  var isStopping: Bool { isOver.withLock { $0 } || Task.isCancelled }

  func takeCustomer() -> Int {
    nextCustomer.withLock { next in
      defer { next += 1 }
      return next
    }
  }

  /// The random numbers of one client: equal for equal seeds.
  func random(_ client: Int) -> SeededRandom {
    var seeds = SeededRandom(seed: seed &+ UInt64(client) &* 0x9e37_79b9)
    return SeededRandom(seed: seeds.next())
  }

  /// The accounts that claim from each other.
  static let claimers: [AccountID] = (1...6).map { AccountID("claimer-\($0)") }
}
