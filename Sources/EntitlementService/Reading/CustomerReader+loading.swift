import EntitlementDomain
import EntitlementStore
import NIOCore
import Synchronization
import Workers

// The path of a read from the limiter through the store to its callers.

extension CustomerReader {
  struct Admission {
    var limiter: ReadLimiter<Read>
    /// The event loops on which ``ReadLimiter/advance(_:)`` is scheduled.
    var advancing: Set<ObjectIdentifier> = []
    var statistics = ReadStatistics()

    mutating func count(_ outcome: ReadLimiter<Read>.Outcome) -> ReadLimiter<Read>.Outcome {
      statistics.shed += outcome.shed.count
      statistics.batches += outcome.begun.count
      return outcome
    }
  }

  /// A read that waits for its turn.
  struct Read: Sendable {
    enum Content: Sendable {
      case load(CustomerLoad)
      /// A batch of one caller. Its answers are looked up when its turn comes.
      case batch(BatchRead)
    }

    let content: Content
    /// The event loop of its first caller; nil: the caller is a task.
    let eventLoop: (any EventLoop)?
  }

  // MARK: Limiting

  /// Reads that arrive in one turn of an event loop are reported together, so that they share
  /// batches, until they would use all permits.
  func begin(
    _ content: Read.Content, customers: Int = 1, isPatient: Bool = false,
    on eventLoop: (any EventLoop)?
  ) {
    // A large batch would occupy the event loop for too long.
    let read = Read(
      content: content, eventLoop: customers > Self.largeBatch ? nil : eventLoop)
    let (outcome, isAdvanceDue) = admission.withLock {
      admission -> (ReadLimiter<Read>.Outcome?, Bool) in
      admission.limiter.arrived(read, customers: customers, isPatient: isPatient, now: .now())
      guard let eventLoop, !admission.limiter.canUseAllPermits else {
        return (admission.count(admission.limiter.advance(.now())), false)
      }
      return (nil, admission.advancing.insert(ObjectIdentifier(eventLoop)).inserted)
    }
    if let outcome { start(outcome) }
    if let eventLoop, isAdvanceDue { eventLoop.execute { [self] in advance(eventLoop) } }
  }

  private func advance(_ eventLoop: any EventLoop) {
    start(
      admission.withLock { admission in
        admission.advancing.remove(ObjectIdentifier(eventLoop))
        return admission.count(admission.limiter.advance(.now()))
      })
  }

  func start(_ outcome: ReadLimiter<Read>.Outcome) {
    for read in outcome.shed { shed(read) }
    for batch in outcome.begun {
      // On the event loop of the first caller: another thread would have to be woken twice. Detached: a
      // batch serves many calls, and one batch begins the next.
      let eventLoop = batch.reads.lazy.compactMap(\.eventLoop).first
      Task.detached(executorPreference: eventLoop.map(EventLoopExecutor.init(_:))) { [self] in
        await run(batch)
      }
    }
  }

  private func run(_ batch: ReadLimiter<Read>.Batch) async {
    await load(batch.reads)
    start(
      admission.withLock { admission in
        admission.count(admission.limiter.ended(permits: batch.permits, now: .now()))
      })
  }

  private func shed(_ read: Read) {
    switch read.content {
    case .load(let load):
      var answers = AnswersByLoop()
      for waiter in cache.loadShed(load) { answers.add(.failure(.overloaded), for: waiter.caller) }
      answers.send()
    case .batch(let batch): batch.finish(.failure(.overloaded))
    }
  }

  // MARK: Loading

  private func load(_ reads: [Read]) async {
    let loads = reads.flatMap { read in
      switch read.content {
      case .load(let load): [load]
      case .batch(let batch): self.loads(of: batch)
      }
    }
    if loads.isEmpty { return }
    let begun = cache.loadsBegan(
      loads, required: watermark.requiredPosition, followed: watermark.position)
    if begun.isEmpty { return }
    // Read after the loads were registered: a change that is required later drops what is loaded
    // here.
    let lookups = begun.map { begun in
      let load = begun.load
      var lookup = CustomerLookup(
        load.query.selector, in: load.query.scope,
        freshness(of: load.query, including: begun.including),
        includesVersions: load.query.signedBy != nil, of: load.source,
        isCancelled: { [cache] in cache.isAbandoned(load) })
      lookup.mayLeaveOut = true
      lookup.spans = begun.spans
      return lookup
    }
    let stored = await store.customers(lookups)
    let snapshot = catalog.snapshot
    var factsInPlace = EvaluationPool.factsInPlace
    var results: [(load: CustomerLoad, result: Result<EvaluatedAnswer, ServiceError>)] = []
    results.reserveCapacity(begun.count)
    for (load, (lookup, stored)) in zip(begun.lazy.map(\.load), zip(lookups, stored)) {
      let customer = try? stored.get()
      let facts = 1 + (customer?.record.itemCount ?? 0)
      if customer?.isLeftOut == true {
        Task { await readLarge(load, lookup) }
      } else if facts > factsInPlace {
        // The permit is not kept meanwhile: the queue of the pool bounds this.
        Task { await evaluate(load, stored, facts: facts, snapshot) }
      } else {
        factsInPlace -= facts
        results.append(
          (
            load,
            Result { () throws(ServiceError) in
              try answer(to: load.query, from: stored, snapshot, isCancelled: { false })
            }
          ))
      }
    }
    end(results)
  }

  /// Reads a large customer that the store left out of a batch. As for its evaluation, no permit is
  /// kept meanwhile.
  private func readLarge(_ load: CustomerLoad, _ lookup: CustomerLookup) async {
    var lookup = lookup
    lookup.mayLeaveOut = false
    let stored = await store.customers([lookup])[0]
    let facts = 1 + ((try? stored.get())?.record.itemCount ?? 0)
    await evaluate(load, stored, facts: facts, catalog.snapshot)
  }

  /// Computes the state of a large customer by itself. The other customers of its batch do not wait
  /// for it. The computation ends when no caller waits for the answer.
  private func evaluate(
    _ load: CustomerLoad, _ stored: Result<StoredCustomer, StoreError>, facts: Int,
    _ snapshot: CatalogHolder.Snapshot
  ) async {
    let result: Result<EvaluatedAnswer, ServiceError>
    do {
      result = try await evaluations.run(
        facts: facts, of: load.source, isCancelled: { [cache] in cache.isAbandoned(load) }
      ) { [self] isCancelled in
        Result { () throws(ServiceError) in
          try answer(to: load.query, from: stored, snapshot, isCancelled: isCancelled)
        }
      }
    } catch {
      result = .failure(ServiceError(error, of: .evaluation))
    }
    end([(load, result)])
  }

  /// Loads have ended: their answers are cached and sent.
  private func end(_ results: [(load: CustomerLoad, result: Result<EvaluatedAnswer, ServiceError>)])
  {
    if results.isEmpty { return }
    let ended = cache.loadsEnded(results.map { ($0.load, try? $0.result.get()) })
    // After the last caller joined, so that no caller gets a moment before its call.
    let now = clock.now()
    var answers = AnswersByLoop()
    for ((load, result), (waiters, followed)) in zip(results, ended) {
      let current = result.map { load.query.at == nil ? CustomerAnswer($0, at: now) : .init($0) }
      for waiter in waiters {
        answers.add(
          Self.result(current, knows: waiter.revision, followed: followed), for: waiter.caller)
      }
    }
    answers.send()
  }

  private func freshness(of query: CustomerQuery, including sequence: Int64) -> StoreFreshness {
    query.consistency == .fullyConsistent || !watermark.isCurrent
      ? .primary : watermark.including(sequence)
  }

  /// Refuses an answer that is older than the revision its caller knows, unless the feed had been
  /// followed that far when the load began. A deleted account has no revision once its deletion is
  /// no longer in the feed.
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
    _ snapshot: CatalogHolder.Snapshot, isCancelled: @escaping () -> Bool
  ) throws(ServiceError) -> EvaluatedAnswer {
    let stored: StoredCustomer
    switch result {
    case .success(let customer): stored = customer
    case .failure(let error): throw ServiceError(error)
    }
    // Another catalog may be in force since the request was checked.
    try snapshot.checkServed(query.scope)
    let record = query.signedBy.map { stored.record.signed(by: $0) } ?? stored.record
    let evaluated = Evaluation.evaluate(
      record, catalog: snapshot.catalog, at: query.at ?? clock.now(), isCancelled: isCancelled)
    guard let outcome = evaluated else { throw ServiceError(PoolError.cancelled, of: .evaluation) }
    let state = outcome.state
    return EvaluatedAnswer(
      encoded: try encode(state), revision: state.revision, evaluatedAt: state.evaluatedAt,
      validUntil: state.nextTransitionAt,
      isUnchangedSinceRevision: query.at == nil
        && outcome.isUnchanged(
          since: stored.record.changedAt, catalogInForceSince: snapshot.inForceSince),
      subject: stored.subject)
  }
}

extension CustomerRecord {
  /// What an evaluation visits.
  var itemCount: Int { facts.count + versions.count + grants.count }
}

extension Evaluation.Outcome {
  /// Whether every answer of this revision was this one: neither time nor another catalog has
  /// changed the state since.
  fileprivate func isUnchanged(
    since changedAt: Milliseconds?, catalogInForceSince: Milliseconds
  ) -> Bool {
    guard let changedAt else { return false }
    return changedAt >= max(lastBoundaryAt ?? catalogInForceSince, catalogInForceSince)
  }
}

/// Answers of a batch, grouped so that each event loop is woken once.
struct AnswersByLoop {
  private typealias Answer = (
    caller: any ReadWaiter, result: Result<CustomerAnswer, ServiceError>
  )

  private var groups: [(eventLoop: any EventLoop, answers: [Answer])] = []

  /// Answers a caller at once if this is its event loop, or if any thread will do.
  mutating func add(
    _ result: Result<CustomerAnswer, ServiceError>, for caller: any ReadWaiter
  ) {
    guard let eventLoop = caller.eventLoop, !eventLoop.inEventLoop else {
      caller.finish(result)
      return
    }
    if let index = groups.firstIndex(where: { $0.eventLoop === eventLoop }) {
      groups[index].answers.append((caller, result))
    } else {
      groups.append((eventLoop, [(caller, result)]))
    }
  }

  /// Sends what ``add(_:for:)`` kept for other event loops.
  consuming func send() {
    for (eventLoop, answers) in groups {
      eventLoop.execute {
        for answer in answers { answer.caller.finish(answer.result) }
      }
    }
  }
}

/// Runs a task on an event loop. The task must not block, nor compute for long: see
/// ``EvaluationPool``.
private final class EventLoopExecutor: TaskExecutor {
  private let eventLoop: any EventLoop

  init(_ eventLoop: any EventLoop) {
    self.eventLoop = eventLoop
  }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    eventLoop.execute { [self] in job.runSynchronously(on: asUnownedTaskExecutor()) }
  }
}

extension ServiceError {
  static let overloaded = ServiceError(.overloaded, "the server is overloaded by reads")
}

/// Counts of reads that needed the store.
package struct ReadStatistics: Hashable, Sendable {
  /// Reads that wait for a permit now.
  package var waiting = 0
  /// How many may wait.
  package var waitingLimit = 0
  /// Batches that may be in flight, and those that are.
  package var permits = 0
  package var permitsInUse = 0
  /// Reads refused in overload.
  package var shed = 0
  /// Batches begun.
  package var batches = 0
}
