import EntitlementDomain
import EntitlementStore
import Synchronization
import Workers

@testable import PostgresStore

/// Blocks batches until it is opened, and then answers each job, unless a test overrides it.
final class GatedWork: Sendable {
  private struct State {
    var batches: [WriteBatch] = []
    var isOpen = false
    var waiting: [CheckedContinuation<Void, Never>] = []
  }

  private let state = Mutex(State())
  private let isHeld: @Sendable ([WriteJob]) -> Bool
  private let end: @Sendable ([WriteJob]) -> BatchOutcome

  init(
    holding isHeld: @escaping @Sendable ([WriteJob]) -> Bool = { _ in true },
    ending end: @escaping @Sendable ([WriteJob]) -> BatchOutcome = { GatedWork.answer($0) }
  ) {
    self.isHeld = isHeld
    self.end = end
  }

  var batches: [WriteBatch] { state.withLock { $0.batches } }

  /// The jobs of each batch.
  var numbers: [[Int]] { batches.map { $0.jobs.map { number(of: $0) } } }

  /// The number of blocked batches.
  var waitingCount: Int { state.withLock { $0.waiting.count } }

  func open() {
    let waiting = state.withLock { state in
      defer { state.waiting = [] }
      state.isOpen = true
      return state.waiting
    }
    for continuation in waiting { continuation.resume() }
  }

  func run(_ batch: WriteBatch) async -> BatchOutcome {
    await withCheckedContinuation { continuation in
      let passes = state.withLock { state in
        state.batches.append(batch)
        if state.isOpen || !isHeld(batch.jobs) { return true }
        state.waiting.append(continuation)
        return false
      }
      if passes { continuation.resume() }
    }
    return end(batch.jobs)
  }

  static func answer(_ jobs: [WriteJob]) -> BatchOutcome {
    for job in jobs {
      var ledger = Ledger(reader: LoadedRows())
      (try? job.decide(&ledger))?(ChangeNumbering(base: 0))
    }
    return BatchOutcome()
  }
}

/// A job that only requires locks, made from grant ids. Its chain chooses the writer.
func sampleJob(
  _ number: Int, _ locks: Set<String>, of source: WorkSource = .server, chain: String? = nil,
  bytes: Int = 0,
  deadline: ContinuousClock.Instant = .now + .seconds(60),
  _ tell: @escaping @Sendable (Result<Int, StoreError>) -> Void = { _ in }
) -> WriteJob {
  var keys = Set(
    locks.map { LedgerKey.grant(ScopedGrant(StoreSample.scope, GrantID($0))) })
  keys.insert(.notification(NotificationUUID("number \(number)")))
  if let chain {
    keys.insert(.hints(StoreSample.scope, OriginalTransactionID(chain)))
  }
  return WriteJob(
    of: source, keys: keys, scopes: PostgresScopeIDs(), headers: HeaderIDs(), byteCount: bytes,
    deadline: deadline,
    decide: { _ in { _ in tell(.success(number)) } }, fail: { tell(.failure($0)) },
    refreshIDs: {})
}

/// The number given to ``sampleJob``.
func number(of job: WriteJob) -> Int {
  for case .notification(let uuid) in job.keys {
    return Int(uuid.rawValue.split(separator: " ").last ?? "") ?? .min
  }
  return .min
}
