import EntitlementDomain
import StoreSimulator
import Testing
import Verification

@Suite("Every row of the table of notifications, signed, verified, merged and reviewed")
struct NotificationRowTests {
  @Test("What the state shows afterwards, and the events", arguments: NotificationRow.all)
  func row(row: NotificationRow) throws {
    let timeline = Timeline(row.lifeCycle, seed: 5, start: NotificationRow.start)
    var history = try DeliveredHistory()
    for event in timeline.events {
      guard event.notification?.type == row.type, event.notification?.subtype == row.subtype
      else {
        _ = try history.deliverNotification(of: event)
        try history.deliverRest(of: event)
        continue
      }
      let before = history.state(at: event.at)
      let delivered = try #require(try history.deliverNotification(of: event))
      let after = history.state(at: event.at)
      let standing = after.groups.first?.standing ?? after.products.first?.standing
      switch row.effect {
      case .none:
        #expect(after == before)
      case .shows(let isShown):
        #expect(isShown(try #require(standing)))
        #expect(after != before)
      case .confirms(let isShown):
        #expect(isShown(try #require(standing)))
        #expect(after == before)
      }
      check(delivered.notification, of: event)
      #expect(delivered.events == row.events.map { $0.filled(from: delivered.notification) })
      return
    }
    Issue.record("the life cycle does not send it")
  }

  private func check(_ notification: VerifiedNotification, of event: StoreEvent) {
    let record = notification.record
    #expect(record.uuid == event.notification?.uuid)
    #expect(record.scope == DeliveredHistory.scope)
    #expect(record.status == event.notification?.status)
    #expect(record.signedDate == event.at)
    #expect(record.unknownValues.isEmpty)
    #expect(notification.facts.allSatisfy { $0.fact.unknownValues.isEmpty })
    // It carries exactly the payloads of its form.
    let type = NotificationType(rawValue: record.type)
    let subtype = record.subtype.map(NotificationSubtype.init(rawValue:))
    let contents = NotificationForm.known(type, subtype)?.contents ?? []
    #expect((notification.transaction != nil) == contents.contains(.transaction))
    #expect((notification.appTransaction != nil) == contents.contains(.appTransaction))
    #expect((notification.renewalInfo != nil) == (event.renewalInfo != nil))
  }

  @Test("Every type and subtype that is known has a row, and a life cycle that sends it")
  func completeness() {
    func name(_ type: String, _ subtype: String?) -> String { "\(type)/\(subtype ?? "")" }
    let known = Set(
      NotificationForm.all.map { name($0.type.rawValue, $0.subtype?.rawValue) })
    #expect(Set(NotificationRow.all.map { name($0.type, $0.subtype) }) == known)
    let sent = LifeCycle.allCases.flatMap { lifeCycle in
      Timeline(lifeCycle, seed: 1, start: NotificationRow.start).events.compactMap(\.notification)
    }
    #expect(Set(sent.map { name($0.type, $0.subtype) }) == known)
  }

  @Test("R47: in the order of signing nothing is due for a refetch", arguments: LifeCycle.allCases)
  func agreement(lifeCycle: LifeCycle) throws {
    for start in TimelineTests.starts {
      var history = try DeliveredHistory()
      for event in Timeline(lifeCycle, seed: 5, start: start).events {
        let events = try history.deliverNotification(of: event)?.events ?? []
        #expect(!events.contains { $0.kind == .refetchDue })
        try history.deliverRest(of: event)
      }
    }
  }

  @Test(
    "R47: a notification that arrives after later-signed facts is no mismatch",
    arguments: LifeCycle.allCases)
  func lateArrival(lifeCycle: LifeCycle) throws {
    let events = Timeline(lifeCycle, seed: 5, start: NotificationRow.start).events
    var history = try DeliveredHistory()
    for event in events {
      _ = try history.deliverNotification(of: event)
      try history.deliverRest(of: event)
    }
    let state = history.state(at: Milliseconds(.max))
    for event in events.dropLast().reversed() {
      let late = try history.deliverNotification(of: event)?.events ?? []
      #expect(!late.contains { $0.kind == .refetchDue })
    }
    // R3, R48: repeats change nothing.
    #expect(history.state(at: Milliseconds(.max)) == state)
  }

  @Test("A status mismatch between Apple and the facts is reported with both views")
  func mismatch() throws {
    var history = try DeliveredHistory()
    let timeline = Timeline(.grace, seed: 5, start: NotificationRow.start)
    var reasons: [String?] = []
    for var event in timeline.events {
      event.notification?.status = 5
      let events = try history.deliverNotification(of: event)?.events ?? []
      #expect(events.allSatisfy { $0.refetchReason == .statusMismatch })
      reasons += events.map(\.detail)
    }
    #expect(
      reasons == [
        "Apple says REVOKED, the facts say ACTIVE", "Apple says REVOKED, the facts say GRACE",
        "Apple says REVOKED, the facts say BILLING_RETRY",
        "Apple says REVOKED, the facts say EXPIRED",
      ])
  }

  @Test("R17: an upgrade whose notification brings the old period only lacks its successor")
  func successorMissing() throws {
    var history = try DeliveredHistory()
    let timeline = Timeline(.upgrade, seed: 5, start: NotificationRow.start)
    _ = try history.deliverNotification(of: timeline.events[0])
    var upgrade = timeline.events[1]
    upgrade.transactions.reverse()
    upgrade.renewalInfo?.productID = upgrade.transactions[0].productID
    let events = try #require(try history.deliverNotification(of: upgrade)).events
    #expect(events.map(\.refetchReason) == [.successorMissing])
    #expect(events.map(\.transactionID) == [upgrade.transactions[0].transactionID])
    // Its successor makes it whole.
    try history.deliverRest(of: upgrade)
    upgrade.notification?.uuid = "b1f0c6d2-4a37-4e59-8c1b-6d2f9e8a7054"
    #expect(try #require(try history.deliverNotification(of: upgrade)).events.isEmpty)
  }

  @Test("A notification that lost what it should carry is due for a refetch")
  func payloadMissing() throws {
    var history = try DeliveredHistory()
    var event = Timeline(.firstPurchase, seed: 5, start: NotificationRow.start).events[0]
    event.renewalInfo = nil
    let partly = try #require(try history.deliverNotification(of: event)).events
    #expect(partly.map(\.refetchReason) == [.payloadMissing])
    #expect(partly.map(\.detail) == ["signedRenewalInfo"])
    event.transactions = []
    let wholly = try #require(try history.deliverNotification(of: event)).events
    #expect(wholly.map(\.detail) == ["signedTransactionInfo, signedRenewalInfo"])
    #expect(wholly.map(\.originalTransactionID) == [nil])
  }
}

extension FeedEvent {
  /// With the ids of the notification that it comes from.
  fileprivate func filled(from notification: VerifiedNotification) -> FeedEvent {
    var event = self
    event.notificationUUID = notification.record.uuid
    if case .transaction(let fact) = notification.transaction?.fact {
      event.originalTransactionID = fact.originalTransactionID
      event.transactionID = fact.transactionID
    }
    return event
  }
}
