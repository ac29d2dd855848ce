import EntitlementDomain
import EntitlementStore

// Each step of a link has its author: the caller of the submission or request that caused it (R46).
extension StoreConformanceSuite {
  private static let trace = [UInt8](1...16)

  private static func caller(_ name: String, isTraced: Bool = false) -> AuditCaller {
    var caller = sampleCaller(name)
    if isTraced { caller.traceID = trace }
    return caller
  }

  private static func author(_ name: String) -> LinkAuthor { LinkAuthor(caller(name)) }

  /// Submits in the name of a caller.
  @discardableResult
  private static func submit(
    _ sample: TransactionSample, as caller: AuditCaller, by account: AccountID? = nil,
    anonymous: AccountID? = nil, at: Milliseconds = 5_000, in store: any EntitlementStore
  ) async throws -> CommitReceipt {
    try await store.commit(
      Submission(
        facts: [sample.signed()], accountID: account, anonymousAccountID: anonymous,
        receivedAt: at, caller: caller))
  }

  static let linkAuthorCases = [
    ConformanceCase("The first link, a claim and a merge by a submission have their callers (R46)")
    {
      store, _ in
      let sample = TransactionSample("1", "1")
      let first = caller("backend", isTraced: true)
      try await submit(sample, as: first, by: "anonymous:1", in: store)
      var steps = [
        LinkEvent(
          from: nil, to: "anonymous:1", reason: .named, author: author("backend"), traceID: trace,
          at: 5_000)
      ]
      try expectEqual(try await store.history(of: .chain("1")), steps, "the first link")
      try await submit(
        TransactionSample("2", "2"), as: caller("app"), by: "alice", anonymous: "anonymous:1",
        at: 6_000, in: store)
      steps.append(
        LinkEvent(
          from: "anonymous:1", to: "alice", reason: .merged, author: author("app"), at: 6_000))
      try expectEqual(try await store.history(of: .chain("1")), steps, "the merge")
      var other = caller("mallory's")
      (other.tokenID, other.proof) = ("", .certificate)
      try await submit(sample, as: other, by: "mallory", at: 7_000, in: store)
      steps.append(
        LinkEvent(
          from: "alice", to: "mallory", reason: .claimed, author: LinkAuthor(name: "mallory's"),
          at: 7_000))
      try expectEqual(try await store.history(of: .chain("1")), steps, "the claim")
      for account: AccountID in ["alice", "mallory"] {
        try expectEqual(
          try await store.linkHistory(of: account, in: readerScope)
            .filter { $0.target == .chain("1") }.map(\.event).suffix(1), steps.suffix(1),
          "\(account)")
      }
      let history = try await store.history(of: "mallory", in: readerScope)
      try expectEqual(history?.linkEvents.last?.event, steps.last)
      try expectEqual(
        try await store.export("mallory", in: readerScope)?.linkEvents.last?.event, steps.last)
    },

    ConformanceCase("What a hint links has the caller of the submission that caused it (R42, R46)")
    {
      store, _ in
      let hinted = TransactionSample("1", "1").with { $0.token = token(1) }
      try await submit(hinted, as: caller("webhook"), in: store)
      try await submit(
        TransactionSample("2", "2").with { $0.token = token(1) }, as: caller("backend"),
        by: "alice", in: store)
      try expectEqual(
        try await store.history(of: .chain("1")).map(\.author), [author("backend")])
      try await submit(
        TransactionSample("3", "3").with { $0.token = token(1) }, as: caller("webhook"), in: store)
      try expectEqual(
        try await store.history(of: .chain("3")).map(\.author), [author("webhook")])
    },

    ConformanceCase("A request by name has its trace, and its step survives a deletion (R46)") {
      store, _ in
      try await submit(TransactionSample("1", "1"), as: caller("backend"), by: "alice", in: store)
      _ = try await store.perform(
        LinkRequest(
          scope: readerScope, change: .transfer(.chain("1"), from: nil, to: "bob"), reason: "r",
          at: 8_000, caller: caller("otto", isTraced: true)))
      try await store.done(.delete("alice"), at: 9_000)
      let steps = try await store.history(of: .chain("1"))
      try expectEqual(steps.map(\.author), [author("backend"), author("otto")])
      try expectEqual(steps.map(\.traceID), [nil, trace])
      try expectEqual(steps.map(\.isFromErased), [false, true])
    },
  ]
}
