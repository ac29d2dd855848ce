package import EntitlementDomain

/// `sendAttemptResult` of Apple's notification history.
package enum SendAttemptResult: String, Hashable, Sendable, CaseIterable {
  case success = "SUCCESS"
  case timedOut = "TIMED_OUT"
  case tlsIssue = "TLS_ISSUE"
  case circularRedirect = "CIRCULAR_REDIRECT"
  case noResponse = "NO_RESPONSE"
  case socketIssue = "SOCKET_ISSUE"
  case unsupportedCharset = "UNSUPPORTED_CHARSET"
  case invalidResponse = "INVALID_RESPONSE"
  case prematureClose = "PREMATURE_CLOSE"
  case unsuccessfulStatus = "UNSUCCESSFUL_HTTP_RESPONSE_CODE"
  case other = "OTHER"
}

/// An attempt to send a notification.
package struct PostingAttempt: Hashable, Sendable {
  package let date: Milliseconds
  package let result: SendAttemptResult
}

/// The notifications of an App Store: which are to be sent when, what came of it, and what the
/// notification history says. Pure; it neither signs nor sends.
package struct NotificationOutbox: Sendable {
  /// A notification and its attempts.
  package struct Entry: Sendable {
    package let event: StoreEvent
    /// Of the outer payload.
    package let notification: StoreNotification
    /// Nil for a notification about no customer.
    package let customer: Int?
    package let signedPayload: String
    package internal(set) var attempts: [PostingAttempt] = []
    /// When the next attempt is due; nil when there will be none.
    package internal(set) var due: Milliseconds?
    package var hasSucceeded: Bool { attempts.last?.result == .success }
  }

  /// An attempt that is due.
  package struct Posting: Sendable {
    package let number: Int
    package let at: Milliseconds
    package let customer: Int?
    package let signedPayload: String
    package let fault: NotificationFault?
  }

  /// The notifications that are kept: the latest. Each has about 14 kB.
  package static let maximumCount = 50_000

  /// How long the notification history reaches back, in days.
  package let historyDays: Int64
  private let retryHours: [Int64]
  /// In the order of their numbers, which begin with ``firstNumber``.
  private var entries: [Entry] = []
  private var firstNumber = 0
  private var agenda = Heap<Item>()
  private var faults: [Int: NotificationFault] = [:]

  private struct Item: Comparable, Sendable {
    let due: Milliseconds
    let number: Int

    static func < (left: Self, right: Self) -> Bool {
      (left.due, left.number) < (right.due, right.number)
    }
  }

  /// An empty outbox with Apple's schedule: in Production a notification is sent again 1, 12, 24,
  /// 48 and 72 hours after the attempt before, in the Sandbox never.
  package init(environment: StoreEnvironment) {
    let isProduction = environment == .production
    retryHours = isProduction ? [1, 12, 24, 48, 72] : []
    historyDays = isProduction ? 180 : 30
  }

  package var count: Int { entries.count }

  /// The number of the newest notification, -1 for none.
  package var lastNumber: Int { firstNumber + entries.count - 1 }

  package func entry(_ number: Int) -> Entry? {
    guard number >= firstNumber, number <= lastNumber else { return nil }
    return entries[number - firstNumber]
  }

  /// A test notification by its UUID and signing date.
  package func test(_ uuid: String, signedAt date: Milliseconds) -> Entry? {
    entries.last { entry in
      entry.notification.type == "TEST" && entry.notification.signedDate == date
        && entry.notification.uuid.rawValue == uuid.lowercased()
    }
  }

  // MARK: Sending

  /// Adds a notification that is due at `due`.
  ///
  /// - Parameter fault: what goes wrong with its first attempt.
  package mutating func add(
    _ event: WorldEvent, notification: StoreNotification, signedPayload: String,
    due: Milliseconds, fault: NotificationFault? = nil
  ) {
    let start = if case .late(let delay) = fault { due.advanced(by: delay) } else { due }
    append(event, notification, signedPayload, due: start)
    agenda.insert(Item(due: start, number: lastNumber))
    faults[lastNumber] = fault
  }

  /// Adds a notification of the past, with its only attempt.
  package mutating func addPast(
    _ event: WorldEvent, notification: StoreNotification, signedPayload: String,
    result: SendAttemptResult
  ) {
    append(event, notification, signedPayload, due: nil)
    entries[entries.count - 1].attempts = [PostingAttempt(date: event.event.at, result: result)]
  }

  private mutating func append(
    _ event: WorldEvent, _ notification: StoreNotification, _ signedPayload: String,
    due: Milliseconds?
  ) {
    if entries.count >= Self.maximumCount {
      // In larger steps, as each moves all entries.
      let dropped = Self.maximumCount / 10
      for number in firstNumber..<firstNumber + dropped { faults[number] = nil }
      entries.removeFirst(dropped)
      firstNumber += dropped
    }
    entries.append(
      Entry(
        event: event.event, notification: notification, customer: event.customer,
        signedPayload: signedPayload, due: due))
  }

  /// When the next attempt is due; nil when there is none.
  package var nextDue: Milliseconds? { agenda.least?.due }

  /// Removes the attempts that are due, in order. Each must be followed by
  /// ``attempted(_:result:at:)``.
  ///
  /// Attempts that are due less than an hour after the first are taken together: none of them can
  /// lead to another attempt among them.
  ///
  /// - Parameter count: how many at most.
  package mutating func takeDue(until moment: Milliseconds, count: Int) -> [Posting] {
    guard let first = nextDue else { return [] }
    let end = first.adding(hours: 1)
    var postings: [Posting] = []
    while let item = agenda.least, item.due <= moment, item.due < end, postings.count < count {
      agenda.removeLeast()
      guard let entry = entry(item.number), entry.due == item.due else { continue }
      entries[item.number - firstNumber].due = nil
      postings.append(
        Posting(
          number: item.number, at: item.due, customer: entry.customer,
          signedPayload: entry.signedPayload, fault: faults.removeValue(forKey: item.number)))
    }
    return postings
  }

  /// Notes what came of an attempt, and when the next one is due.
  ///
  /// - Parameter isRetried: whether Apple sends again after such a failure.
  package mutating func attempted(
    _ number: Int, result: SendAttemptResult, isRetried: Bool = true, at moment: Milliseconds
  ) {
    guard let entry = entry(number) else { return }
    let index = number - firstNumber
    entries[index].attempts.append(PostingAttempt(date: moment, result: result))
    let retry = entry.attempts.count
    guard result != .success, isRetried, retry < retryHours.count else { return }
    let due = moment.adding(hours: retryHours[retry])
    entries[index].due = due
    agenda.insert(Item(due: due, number: number))
  }

  // MARK: History

  /// The filters of Get Notification History.
  package struct Filter: Hashable, Sendable {
    /// From `startDate` on, by the date of signing.
    package var startDate: Milliseconds
    /// Before `endDate`, exclusive.
    package var endDate: Milliseconds
    package var type: String?
    package var subtype: String?
    package var customer: Int?
    /// Only those whose last attempt failed, also if they are still sent again.
    package var onlyFailures = false

    package init(startDate: Milliseconds, endDate: Milliseconds) {
      self.startDate = startDate
      self.endDate = endDate
    }

    func admits(_ entry: Entry) -> Bool {
      let date = entry.notification.signedDate
      guard date >= startDate, date < endDate, !entry.attempts.isEmpty else { return false }
      if let type, entry.notification.type != type { return false }
      if let subtype, entry.notification.subtype != subtype { return false }
      if let customer, entry.customer != customer { return false }
      return !(onlyFailures && entry.hasSucceeded)
    }
  }

  /// The notifications after a number, oldest first, and whether there are more.
  ///
  /// - Parameters:
  ///   - number: that of the last notification before the page; -1 for the first page.
  ///   - count: positive.
  package func history(
    _ filter: Filter, after number: Int, count: Int
  ) -> (entries: [Entry], last: Int, hasMore: Bool) {
    var found: [Entry] = []
    var last = number
    for index in entries.indices.dropFirst(max(0, number + 1 - firstNumber))
    where filter.admits(entries[index]) {
      guard found.count < count else { return (found, last, true) }
      found.append(entries[index])
      last = firstNumber + index
    }
    return (found, last, false)
  }
}
