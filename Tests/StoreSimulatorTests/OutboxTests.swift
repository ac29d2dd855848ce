import EntitlementDomain
import StoreSimulator
import TestSupport
import Testing

@Suite("The outbox of notifications")
struct OutboxTests {
  private static let hour = Milliseconds.hourLength
  private static let start = WorldTests.start

  private static func event(at moment: Milliseconds, customer: Int = 0, type: String = "DID_RENEW")
    -> (WorldEvent, StoreNotification)
  {
    let notification = StoreNotification(
      type: type, subtype: nil, uuid: NotificationUUID("uuid-\(moment)-\(customer)"),
      signedDate: moment, environment: .production, appAppleID: nil,
      bundleID: SimulatedApp.bundleID, status: nil)
    let event = StoreEvent(at: moment, transactions: [], notification: notification)
    return (WorldEvent(customer: customer, event: event), notification)
  }

  private static func outbox(_ environment: StoreEnvironment = .production) -> NotificationOutbox {
    NotificationOutbox(environment: environment)
  }

  private static func add(
    to outbox: inout NotificationOutbox, at moment: Milliseconds, customer: Int = 0,
    fault: NotificationFault? = nil
  ) {
    let (event, notification) = event(at: moment, customer: customer)
    outbox.add(
      event, notification: notification, signedPayload: "jws", due: moment, fault: fault)
  }

  @Test(
    "Apple's schedule of retries",
    arguments: [
      (StoreEnvironment.production, true, [0, 1, 13, 37, 85, 157]),
      (.production, false, [0]),
      (.sandbox, true, [0]),
    ])
  func schedule(environment: StoreEnvironment, isRetried: Bool, hours: [Int64]) {
    var outbox = Self.outbox(environment)
    Self.add(to: &outbox, at: Self.start)
    var attempts: [Int64] = []
    while let due = outbox.nextDue {
      for posting in outbox.takeDue(until: due, count: 10) {
        attempts.append((posting.at.rawValue - Self.start.rawValue) / Self.hour)
        outbox.attempted(
          posting.number, result: .unsuccessfulStatus, isRetried: isRetried, at: posting.at)
      }
    }
    #expect(attempts == hours)
    #expect(outbox.entry(0)?.attempts.count == hours.count)
  }

  @Test func `a success ends the schedule`() {
    var outbox = Self.outbox()
    Self.add(to: &outbox, at: Self.start)
    for result in [SendAttemptResult.timedOut, .success] {
      for posting in outbox.takeDue(until: Self.start.advanced(by: 5 * Self.hour), count: 10) {
        outbox.attempted(posting.number, result: result, at: posting.at)
      }
    }
    #expect(outbox.nextDue == nil)
    #expect(outbox.entry(0)?.attempts.map(\.result) == [.timedOut, .success])
  }

  @Test func `attempts that could lead to one among them are not taken together`() {
    var outbox = Self.outbox()
    for minutes in [0, 59, 60] as [Int64] {
      Self.add(to: &outbox, at: Self.start.advanced(by: minutes * 60_000))
    }
    let end = Self.start.advanced(by: 10 * Self.hour)
    #expect(outbox.takeDue(until: end, count: 10).map(\.number) == [0, 1])
    #expect(outbox.takeDue(until: end, count: 10).map(\.number) == [2])
  }

  @Test func `a late notification is due later, and its fault is told once`() {
    var outbox = Self.outbox()
    Self.add(to: &outbox, at: Self.start, fault: .late(2 * Self.hour))
    #expect(outbox.takeDue(until: Self.start, count: 10).isEmpty)
    let due = Self.start.advanced(by: 2 * Self.hour)
    #expect(outbox.takeDue(until: due, count: 10).map(\.fault) == [.late(2 * Self.hour)])
    outbox.attempted(0, result: .noResponse, at: due)
    let retry = due.advanced(by: Self.hour)
    #expect(outbox.takeDue(until: retry, count: 10).map(\.fault) == [nil])
  }

  @Test func `the history filters and pages`() {
    var outbox = Self.outbox()
    for number in 0..<50 {
      let moment = Self.start.advanced(by: Int64(number))
      let (event, notification) = Self.event(at: moment, customer: number % 2)
      outbox.addPast(
        event, notification: notification, signedPayload: "jws",
        result: number % 5 == 0 ? .noResponse : .success)
    }
    var filter = NotificationOutbox.Filter(
      startDate: Self.start, endDate: Self.start.advanced(by: 49))
    let first = outbox.history(filter, after: -1, count: 20)
    #expect(first.entries.count == 20 && first.last == 19 && first.hasMore)
    #expect(outbox.history(filter, after: 39, count: 20).entries.count == 9)
    #expect(outbox.history(filter, after: .max, count: 20).entries.isEmpty)
    #expect(outbox.history(filter, after: .min, count: 20).last == 19)
    filter.onlyFailures = true
    #expect(outbox.history(filter, after: -1, count: 20).entries.count == 10)
    filter.customer = 1
    #expect(outbox.history(filter, after: -1, count: 20).entries.count == 5)
    filter.type = "TEST"
    #expect(outbox.history(filter, after: -1, count: 20).entries.isEmpty)
  }

  @Test func `the oldest notifications are dropped, but those that are still to be sent`() {
    var outbox = Self.outbox()
    Self.add(to: &outbox, at: Self.start)
    Self.add(to: &outbox, at: Self.start.advanced(by: 1))
    let taken = outbox.takeDue(until: Self.start, count: 1)
    let (event, notification) = Self.event(at: Self.start)
    for _ in 0...NotificationOutbox.maximumCount {
      outbox.addPast(
        event, notification: notification, signedPayload: "jws", result: .success)
    }
    #expect(outbox.count <= NotificationOutbox.maximumCount)
    #expect(outbox.lastNumber == NotificationOutbox.maximumCount + 2)
    #expect(outbox.entry(2) == nil && outbox.entry(outbox.lastNumber) != nil)
    #expect(outbox.nextDue == Self.start.advanced(by: 1))
    for posting in taken { outbox.attempted(posting.number, result: .noResponse, at: posting.at) }
    #expect(outbox.entry(0)?.attempts.count == 1)
  }

  @Test func `the outbox is bounded, also when all is still to be sent`() {
    var outbox = Self.outbox()
    for _ in 0...NotificationOutbox.absoluteMaximum { Self.add(to: &outbox, at: Self.start) }
    #expect(outbox.count <= NotificationOutbox.absoluteMaximum)
    #expect(outbox.entry(0) == nil)
    #expect(outbox.takeDue(until: Self.start, count: 1).map(\.number) == [5_000])
  }

  @Test func `an attempt that was not made is due again, with its fault`() {
    var outbox = Self.outbox()
    Self.add(to: &outbox, at: Self.start, fault: .doubled)
    for posting in outbox.takeDue(until: Self.start, count: 1) { outbox.putBack(posting) }
    #expect(outbox.takeDue(until: Self.start, count: 1).map(\.fault) == [.doubled])
  }

  @Test func `faults occur as often as asked, by the seed`() throws {
    func draws(requests: Int) throws -> [Bool] {
      var plan = FaultPlan(seed: 3)
      try plan.add(FaultPlan.Rule(.notification(.lost), probability: 0.33))
      try plan.add(FaultPlan.Rule(.request(.cut), probability: 0.5))
      return (0..<3_000).map { _ in
        for _ in 0..<requests { _ = plan.nextRequest("/inApps/v1/lookup/1", at: Self.start) }
        return plan.nextNotification(at: Self.start) != nil
      }
    }
    let lost = try draws(requests: 0)
    // Requests between them change nothing.
    #expect(try draws(requests: 1) == lost)
    #expect((850...1_130).contains(lost.count { $0 }))
  }

  @Test func `a fault ends after its count, its time, or when all are cleared`() throws {
    var plan = FaultPlan(seed: 3)
    try plan.add(FaultPlan.Rule(.request(.cut), count: 2, path: "/inApps/v1"))
    #expect(plan.nextRequest("/inApps/v2/history/1", at: Self.start) == nil)
    let draws = (0..<3).map { _ in plan.nextRequest("/inApps/v1/lookup/1", at: Self.start) }
    #expect(draws == [.cut, .cut, nil])
    try plan.add(FaultPlan.Rule(.notification(.doubled), until: Self.start))
    #expect(plan.nextNotification(at: Self.start.advanced(by: -1)) == .doubled)
    #expect(plan.nextNotification(at: Self.start) == nil)
    try plan.add(FaultPlan.Rule(.notification(.doubled)))
    plan.removeAll()
    #expect(plan.nextNotification(at: Self.start) == nil)
  }
}
