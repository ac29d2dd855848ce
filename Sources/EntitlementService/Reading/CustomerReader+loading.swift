import EntitlementDomain
import EntitlementStore
import NIOCore
import Synchronization

// The way of a read from the limiter through the store to its callers.

extension CustomerReader {
  struct Admission {
    var limiter: ReadLimiter<Read>
    var statistics = ReadStatistics()

    /// Counts what an outcome of the limiter says.
    mutating func settle(_ outcome: ReadLimiter<Read>.Outcome) -> ReadLimiter<Read>.Outcome {
      statistics.shed += outcome.shed.count
      statistics.batches += outcome.begun.count
      return outcome
    }
  }

  /// What the limiter lets begin: a load, or a whole batch of a caller, whose answers are looked up when
  /// its turn has come.
  enum Read: Sendable {
    case load(CustomerLoad)
    case batch(BatchRead)
  }

  func begin(_ load: CustomerLoad, isPatient: Bool = false) {
    begin(.load(load), customers: 1, isPatient: isPatient)
  }

  func begin(_ read: Read, customers: Int, isPatient: Bool) {
    start(
      admission.withLock { admission in
        admission.settle(
          admission.limiter.arrived(
            read, customers: customers, isPatient: isPatient, now: .now()))
      })
  }

  func start(_ outcome: ReadLimiter<Read>.Outcome) {
    for read in outcome.shed { shed(read) }
    for batch in outcome.begun {
      Task { await run(batch) }
    }
  }

  /// Reads a batch, and then the batches that waited for its permits.
  private func run(_ first: ReadLimiter<Read>.Batch) async {
    var next: ReadLimiter<Read>.Batch? = first
    while let batch = next {
      await load(batch.reads)
      var outcome = admission.withLock { admission in
        admission.settle(admission.limiter.ended(permits: batch.permits, now: .now()))
      }
      next = outcome.begun.popLast()
      start(outcome)
    }
  }

  private func shed(_ read: Read) {
    switch read {
    case .load(let load):
      for waiter in table.loadShed(load) { waiter.caller.finish(.failure(.overloaded)) }
    case .batch(let batch): batch.tell(.failure(.overloaded))
    }
  }

  private func load(_ reads: [Read]) async {
    let loads = reads.flatMap { read in
      switch read {
      case .load(let load): [load]
      case .batch(let batch): self.loads(of: batch)
      }
    }
    if loads.isEmpty { return }
    let begun = table.loadsBegan(
      loads, required: horizon.requiredPosition, followed: horizon.position)
    if begun.isEmpty { return }
    // Asked after the loads were announced: what is required later drops what is loaded here.
    let lookups = begun.map { load, including in
      CustomerLookup(
        load.query.selector, in: load.query.scope, freshness(of: load.query, including: including))
    }
    let stored = await store.customers(lookups)
    let snapshot = catalog.snapshot
    let results = zip(begun, stored).map { begun, stored in
      Result { () throws(ServiceError) in
        try answer(to: begun.load.query, from: stored, snapshot)
      }
    }
    let ended = table.loadsEnded(
      zip(begun, results).map { ($0.load, try? $1.get()) })
    for (result, (waiters, followed)) in zip(results, ended) {
      for waiter in waiters {
        waiter.caller.finish(Self.result(result, knows: waiter.revision, followed: followed))
      }
    }
  }

  private func freshness(of query: CustomerQuery, including sequence: Int64) -> StoreFreshness {
    query.consistency == .fullyConsistent || !horizon.isCurrent
      ? .primary : horizon.including(sequence)
  }

  /// What was committed up to a followed position is in an answer that was loaded after it. An account
  /// that was deleted has no revision any more once the feed does not tell of the deletion.
  private static func result(
    _ result: Result<CustomerAnswer, ServiceError>, knows revision: Int64?, followed: Int64
  ) -> Result<CustomerAnswer, ServiceError> {
    guard let revision, case .success(let answer) = result, answer.revision < revision,
      followed < revision
    else { return result }
    return .failure(
      ServiceError(.unavailable, "revision \(revision) of this customer is not known here yet"))
  }

  private func answer(
    to query: CustomerQuery, from result: Result<StoredCustomer, StoreError>,
    _ snapshot: CatalogHolder.Snapshot
  ) throws(ServiceError) -> CustomerAnswer {
    let stored: StoredCustomer
    switch result {
    case .success(let customer): stored = customer
    case .failure(let error): throw ServiceError(error)
    }
    // Another catalog may have come in force since the question was looked at.
    try snapshot.checkServed(query.scope)
    let outcome = Evaluation.evaluate(
      stored.record, catalog: snapshot.catalog, at: query.at ?? clock.now())
    let state = outcome.state
    return CustomerAnswer(
      encoded: try encode(state), revision: state.revision, validUntil: state.nextTransitionAt,
      isUnchangedSinceRevision: query.at == nil
        && outcome.isUnchanged(
          since: stored.record.changedAt, catalogInForceSince: snapshot.inForceSince),
      subject: stored.subject)
  }
}

extension Evaluation.Outcome {
  /// Whether every answer of the present revision was this one: neither time nor another catalog
  /// came between.
  fileprivate func isUnchanged(
    since changedAt: Milliseconds?, catalogInForceSince: Milliseconds
  ) -> Bool {
    guard let changedAt else { return false }
    return changedAt >= max(lastBoundaryAt ?? catalogInForceSince, catalogInForceSince)
  }
}

extension ServiceError {
  /// More is read than can be answered in time.
  static let overloaded = ServiceError(.overloaded, "more is read than can be answered in time")
}

/// Reads that needed the store.
package struct ReadStatistics: Hashable, Sendable {
  /// Those that wait for a permit now.
  package var waiting = 0
  /// Those that were refused in overload.
  package var shed = 0
  /// Batches that began.
  package var batches = 0
}
