import EntitlementDomain
import EntitlementStore
import TestSupport

// How a process learns of changes, so that it caches no outdated answer.
extension StoreConformanceSuite {
  static let announcementCases = [
    ConformanceCase("A subscription that starts at the end of the feed gets later commits only") {
      store, _ in
      let start = try await store.feedEnd()
      try await store.submit(TransactionSample("1", "1"))
      let first = try await store.feed()
      try expect(first.allSatisfy { $0.sequence > start }, "a change before the end of the feed")
      let end = try await store.feedEnd()
      try await store.submit(TransactionSample("2", "2"), by: "alice")
      let later = try await store.feed(after: end)
      try expectEqual(later.last?.subject, account("alice"))
      try expect(
        later.count <= 2 && later.allSatisfy { $0.sequence > end }, "the end was not the end")
    },

    ConformanceCase("A changed subject is reported as soon as its commit is answered") { store, _ in
      var position = try await store.feedEnd()
      for number in 0..<20 {
        let changed: [CustomerSubject]
        let revision: Int64
        if number.isMultiple(of: 3) {
          let answer = try await store.done(
            .link(.chain(OriginalTransactionID("0")), to: "alice"), afterSubmitting: number)
          (changed, revision) = (answer.changed, answer.customers.map(\.revision).max() ?? 0)
        } else {
          let receipt = try await store.submit(
            TransactionSample("\(number)", "\(number)"),
            by: number.isMultiple(of: 2) ? AccountID("account-\(number)") : nil)
          (changed, revision) = (receipt.changed, receipt.customers.map(\.revision).max() ?? 0)
        }
        let told = try await store.changedCustomers(after: position)
        try expect(
          Set(told.subjects).isSuperset(of: changed), "\(changed) are not all in \(told.subjects)")
        try expect(told.latest >= revision, "revision \(revision) is beyond \(told.latest)")
        try expect(
          told.position >= position && told.position <= told.latest,
          "from \(position) to \(told.position) of \(told.latest)")
        position = told.position
      }
      // At the end of the feed nothing is left to report.
      try await eventually("reported changes do not end") {
        let told = try await store.changedCustomers(after: position)
        position = told.position
        return told.subjects.isEmpty
      }
    },

    ConformanceCase("Many changed subjects are reported in parts, each subject once") { store, _ in
      let start = try await store.followerCursor()
      var changed: Set<CustomerSubject> = []
      for part in 0..<4 {
        let receipt = try await store.submit(
          (0..<400).map { number in
            try TransactionSample("\(part)-\(number)", "\(part)-\(number)").signed()
          })
        changed.formUnion(receipt.changed)
      }
      var cursor = start
      var told: [CustomerSubject] = []
      var isComplete = false
      var parts = 0
      while !isComplete {
        let part = try await store.changedCustomers(since: cursor)
        try expect(part.subjects.count <= 1_000, "a part of \(part.subjects.count)")
        try expect(part.cursor.position <= part.cursor.latest, "the cursor is after the end")
        told += part.subjects
        (cursor, isComplete) = (part.cursor, part.isComplete)
        parts += 1
      }
      try expectEqual(parts, 2)
      try expectEqual(told.count, 1_600)
      try expectEqual(Set(told), changed)
      try expectEqual(try await store.changedCustomers(since: cursor).subjects, [])
      try expectEqual(
        try await store.changedCustomers(since: try await store.followerCursor()).subjects, [])
    },

    ConformanceCase("Every kind of commit is announced") { store, _ in
      var announcements = store.announcements().makeAsyncIterator()
      var position = try await store.feedEnd()
      let commits: [@Sendable () async throws -> [CustomerSubject]] = [
        { try await store.submit(TransactionSample("1", "1")).changed },
        { try await store.submit(TransactionSample("1", "1"), by: "alice").changed },
        { [try await store.addGrant(sampleGrant(1)).customer.subject] },
        { try await store.done(.transfer(.chain("1"), from: "alice", to: "bob")).changed },
        { try await store.done(.delete("bob")).changed },
      ]
      for commit in commits {
        let changed = try await commit()
        var told: Set<CustomerSubject> = []
        while !told.isSuperset(of: changed) {
          _ = try unwrap(await announcements.next(), "announcement of \(changed)")
          let customers = try await store.changedCustomers(after: position)
          told.formUnion(customers.subjects)
          position = customers.position
        }
      }
    },

    ConformanceCase("Every subscriber gets announcements; pending ones are coalesced") {
      store, _ in
      var listeners = (0..<3).map { _ in store.announcements().makeAsyncIterator() }
      for number in 0..<50 {
        try await store.submit(TransactionSample("\(number)", "\(number)"))
      }
      for index in listeners.indices {
        _ = try unwrap(await listeners[index].next(), "announcement for \(index)")
      }
    },

    ConformanceCase("Announcements end when the store closes") { store, _ in
      let before = store.announcements()
      try await store.submit(TransactionSample("1", "1"))
      await store.close()
      for await _ in before {}
      for await _ in store.announcements() {}
    },
  ]
}

extension EntitlementStore {
  /// Links chain 0: the first call creates it, each later call moves it to another account.
  fileprivate func done(_ change: LinkRequest.Change, afterSubmitting number: Int) async throws
    -> LinkReceipt
  {
    if number == 0 { try await submit(TransactionSample("0", "0")) }
    if number > 0 { try await done(.unlink(.chain("0"))) }
    return try await done(change)
  }
}
