import Synchronization

/// Readers that wait for one load: each has a task, also when nobody waits for its answer any more.
private let joinedReaders = 4_096

extension CustomerReader {
  /// What a load that somebody else began will answer.
  package struct SharedAnswer: Sendable {
    fileprivate let task: Task<Outcome, Never>

    /// Waits for it.
    ///
    /// - Throws: as ``CustomerReader/answer(to:)``.
    package func get() async throws(ServiceError) -> HeldAnswer<Encoded> {
      try await task.value.get()
    }
  }

  /// Joins the load of the same customer that is under way: no I/O, no task, and no more work for the
  /// store.
  ///
  /// - Returns: nil when there is none, or very many wait for it; and for a question that might need a
  ///   load of its own after that one, as does one for a revision.
  package func joinedAnswer(to query: CustomerQuery) -> SharedAnswer? {
    guard query.consistency == .minimizeLatency, let key = query.heldKey else { return nil }
    let clock = cache.clock
    let load = loads.withLock { loads -> Load? in
      guard let load = loads.underWay(of: key, at: clock, including: .min),
        load.joined < joinedReaders
      else { return nil }
      loads.byKey[key]?.joined += 1
      return load
    }
    guard let load else { return nil }
    missed(query.consistency)
    cache.loadJoined()
    return SharedAnswer(task: load.task)
  }
}
