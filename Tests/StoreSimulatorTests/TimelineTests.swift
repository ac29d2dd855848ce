import EntitlementDomain
import StoreSimulator
import Testing

@Suite("Life cycles")
struct TimelineTests {
  static let day = Milliseconds.dayLength
  /// Starts in months of every length, before a leap day, at a month's end and in summer.
  static let starts: [Milliseconds] = [
    1_706_659_200_000,  // 2024-01-31
    1_675_123_199_999,  // 2023-01-30, the last millisecond of the day
    1_709_164_800_000,  // 2024-02-29
    1_740_787_200_000,  // 2025-03-01
    1_761_955_200_000,  // 2025-11-01
    1_767_139_200_123,  // 2025-12-31
  ]

  @Test(
    "Events are in the order of signing, and each payload carries its moment",
    arguments: LifeCycle.allCases)
  func order(lifeCycle: LifeCycle) {
    for start in Self.starts {
      let timeline = Timeline(lifeCycle, seed: 7, start: start)
      #expect(timeline.events.first?.at == start)
      for (earlier, later) in zip(timeline.events, timeline.events.dropFirst()) {
        #expect(earlier.at <= later.at)
      }
      for event in timeline.events {
        #expect(event.transactions.allSatisfy { $0.signedDate == event.at })
        #expect(event.renewalInfo.map { $0.signedDate == event.at } ?? true)
        #expect(event.appTransaction.map { $0.signedDate == event.at } ?? true)
        #expect(event.notification.map { $0.signedDate == event.at } ?? true)
        // A notification that should carry a transaction has one to carry.
        guard let notification = event.notification else { continue }
        let type = NotificationType(rawValue: notification.type)
        let subtype = notification.subtype.map(NotificationSubtype.init(rawValue:))
        let form = NotificationForm.known(type, subtype)
        #expect(form != nil)
        #expect(form?.contents.contains(.transaction) == !event.transactions.isEmpty)
        #expect(form?.contents.contains(.appTransaction) == (event.appTransaction != nil))
      }
    }
  }

  @Test(
    "Intervals begin with a new customer and follow each other without gaps",
    arguments: LifeCycle.allCases)
  func intervals(lifeCycle: LifeCycle) throws {
    for start in Self.starts {
      let timeline = Timeline(lifeCycle, seed: 7, start: start)
      let first = try #require(timeline.intervals.first)
      #expect(first.from == Milliseconds(.min))
      #expect(first.state.coreState == .new && first.state.callToAction == .merchandise)
      #expect(timeline.intervals.dropFirst().first?.from == start)
      for (earlier, later) in zip(timeline.intervals, timeline.intervals.dropFirst()) {
        #expect(earlier.from < later.from)
        #expect(earlier.state != later.state)
        #expect(timeline.expectation(at: later.from) == later.state)
        #expect(timeline.expectation(at: later.from.advanced(by: -1)) == earlier.state)
      }
      #expect(timeline.expectation(at: Milliseconds(.max)) == timeline.intervals.last?.state)
    }
  }

  @Test("A state is consistent", arguments: LifeCycle.allCases)
  func consistency(lifeCycle: LifeCycle) {
    for interval in Timeline(lifeCycle, seed: 7, start: Self.starts[0]).intervals {
      let state = interval.state
      #expect((state.coreState == .active) == !state.entitlements.isEmpty)
      #expect((state.coreState == .new) == (state.status == nil))
      #expect((state.status == .expired) == (state.expirationReason != nil))
      #expect(state.entitlements == state.entitlements.sorted())
    }
  }

  @Test(
    "The characteristic state lasts a day before and after its moment",
    arguments: LifeCycle.allCases)
  func characteristicState(lifeCycle: LifeCycle) {
    for start in Self.starts {
      let timeline = Timeline(lifeCycle, seed: 7, start: start)
      let moment = timeline.characteristicMoment
      let span = moment.advanced(by: -Self.day)...moment.advanced(by: Self.day)
      #expect(!timeline.intervals.contains { span.contains($0.from) })
      #expect(!timeline.events.contains { span.contains($0.at) })
    }
  }

  @Test("The same seed gives the same bytes, another seed others", arguments: LifeCycle.allCases)
  func determinism(lifeCycle: LifeCycle) {
    let timelines = [7, 7, 8].map { Timeline(lifeCycle, seed: $0, start: Self.starts[0]) }
    let bytes = timelines.map { $0.events.map(Self.payloads) }
    #expect(bytes[0] == bytes[1])
    #expect(timelines[0].events == timelines[1].events)
    #expect(bytes[0] != bytes[2])
  }

  @Test(
    "Apple's own view in a notification is the one expected (R47)", arguments: LifeCycle.allCases)
  func statuses(lifeCycle: LifeCycle) {
    let timeline = Timeline(lifeCycle, seed: 7, start: Self.starts[0])
    for event in timeline.events {
      guard let notification = event.notification else { continue }
      let expected: Int64? =
        switch timeline.expectation(at: event.at) {
        case _ where event.transactions.isEmpty: nil
        case let state where state.group == nil: nil
        case let state where state.status == .active: 1
        case let state where state.status == .expired: 2
        case let state where state.status == .billingRetry: 3
        case let state where state.status == .grace: 4
        default: 5
        }
      #expect(notification.status == expected, "\(notification.type)")
    }
  }

  @Test("One payload is fixed, so that seeds keep their meaning between versions")
  func pinnedPayload() throws {
    let timeline = Timeline(.firstPurchase, seed: 1, start: 1_761_955_200_000)
    let transaction = try #require(timeline.events.first?.transactions.first)
    let expected = [
      #"{"transactionId":"2406970000000001","originalTransactionId":"2406970000000001","#,
      #""webOrderLineItemId":"3406970000000001","bundleId":"com.example.scribe","#,
      #""productId":"com.example.scribe.pro.monthly","#,
      #""subscriptionGroupIdentifier":"21000001","purchaseDate":1761955200000,"#,
      #""originalPurchaseDate":1761955200000,"expiresDate":1764547200000,"quantity":1,"#,
      #""type":"Auto-Renewable Subscription","#,
      #""appAccountToken":"e192c37f-6017-48c9-b5f3-a01f3673a8a6","#,
      #""inAppOwnershipType":"PURCHASED","signedDate":1761955200000,"#,
      #""environment":"Production","transactionReason":"PURCHASE","storefront":"DEU","#,
      #""storefrontId":"143443","price":9990,"currency":"EUR","#,
      #""appTransactionId":"704004069700000000"}"#,
    ]
    #expect(String(decoding: transaction.json, as: UTF8.self) == expected.joined())
  }

  @Test("The history up to a time includes that time, and nothing later")
  func history() throws {
    let timeline = Timeline(.grace, seed: 7, start: Self.starts[0])
    #expect(timeline.history(until: timeline.start.advanced(by: -1)).isEmpty)
    for (index, event) in timeline.events.enumerated() {
      #expect(timeline.history(until: event.at).count == index + 1)
      #expect(timeline.history(until: event.at.advanced(by: -1)).count == index)
    }
    #expect(timeline.history(until: Milliseconds(.max)) == timeline.events)
  }

  @Test("Identifiers have the App Store's lengths, and no two transactions share one")
  func identifiers() throws {
    for lifeCycle in LifeCycle.allCases {
      let timeline = Timeline(lifeCycle, seed: .max, start: Self.starts[0])
      var periods: [TransactionID: Milliseconds] = [:]
      for transaction in timeline.events.flatMap(\.transactions) {
        #expect(transaction.transactionID.rawValue.count == 16)
        #expect(transaction.transactionID.rawValue.hasPrefix("2"))
        #expect(transaction.appTransactionID?.rawValue.count == 18)
        let known = periods.updateValue(transaction.purchaseDate, forKey: transaction.transactionID)
        #expect(known == nil || known == transaction.purchaseDate)
      }
      let uuids = timeline.events.compactMap { $0.notification?.uuid }
      #expect(Set(uuids).count == uuids.count)
      #expect(uuids.allSatisfy { $0.rawValue.count == 36 })
    }
  }

  static func payloads(of event: StoreEvent) -> [[UInt8]] {
    event.transactions.map(\.json)
      + [
        event.renewalInfo?.json, event.appTransaction?.json,
        event.notification?.json(signedTransaction: "t", signedRenewalInfo: "r"),
      ].compactMap { $0 }
  }
}
