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
    let number: Int
    package let event: StoreEvent
    /// Of the outer payload.
    package let notification: StoreNotification
    /// Nil for a notification about no customer.
    package let customer: Int?
    package let signedPayload: String
    package internal(set) var attempts: [PostingAttempt] = []
    /// When the next attempt is due; nil when there will be none.
    package internal(set) var due: Milliseconds?
    /// Whether an attempt is being made.
    var isTaken = false
    package var hasSucceeded: Bool { attempts.last?.result == .success }
    var isPending: Bool { due != nil || isTaken }
  }

  /// An attempt that is due.
  package struct Posting: Sendable {
    package let number: Int
    package let at: Milliseconds
    package let customer: Int?
    package let signedPayload: String
    package let fault: NotificationFault?
  }

  /// The notifications that are kept: the latest, and older ones that are still to be sent. Each has
  /// about 14 kB.
  package static let maximumCount = 50_000
  /// From so many on the oldest are dropped, even if they are still to be sent.
  package static let absoluteMaximum = 2 * maximumCount
  /// How many are dropped at once, as it moves all entries.
  private static let droppedAtOnce = maximumCount / 10

  private let retryHours: [Int64]
  /// In the order of their numbers.
  private var entries: [Entry] = []
  /// The count at which entries are dropped next.
  private var dropCount = NotificationOutbox.maximumCount
  /// The number of the newest notification, -1 for none.
  package private(set) var lastNumber = -1
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
    retryHours = environment == .production ? [1, 12, 24, 48, 72] : []
  }

  /// How long the notification history of an environment reaches back, in days.
  package static func historyDays(of environment: StoreEnvironment) -> Int64 {
    environment == .production ? 180 : 30
  }

  package var count: Int { entries.count }

  /// A notification by its number; nil when it was dropped, or there is none yet.
  package func entry(_ number: Int) -> Entry? {
    index(of: number).map { entries[$0] }
  }

  private func index(of number: Int) -> Int? {
    guard number > Int.min else { return nil }
    let index = firstIndex(after: number - 1)
    return index < entries.count && entries[index].number == number ? index : nil
  }

  /// The index of the first entry with a larger number.
  private func firstIndex(after number: Int) -> Int {
    var range = 0..<entries.count
    while !range.isEmpty {
      let middle = range.lowerBound + range.count / 2
      range =
        entries[middle].number > number
        ? range.lowerBound..<middle : middle + 1..<range.upperBound
    }
    return range.lowerBound
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
    if entries.count >= dropCount { dropOldest() }
    lastNumber += 1
    entries.append(
      Entry(
        number: lastNumber, event: event.event, notification: notification,
        customer: event.customer,
        signedPayload: signedPayload, due: due))
  }

  private mutating func dropOldest() {
    var left = Self.droppedAtOnce
    entries.removeAll { entry in
      guard left > 0, !entry.isPending else { return false }
      left -= 1
      return true
    }
    if entries.count >= Self.absoluteMaximum {
      for entry in entries.prefix(left) { faults[entry.number] = nil }
      entries.removeFirst(left)
    }
    dropCount = max(
      Self.maximumCount, min(entries.count + Self.droppedAtOnce, Self.absoluteMaximum))
  }

  /// When the next attempt is due; nil when there is none.
  package var nextDue: Milliseconds? { agenda.least?.due }

  /// Removes the attempts that are due, in order. Each must be followed by
  /// ``attempted(_:result:isRetried:at:)`` or ``putBack(_:)``.
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
      guard let index = index(of: item.number), entries[index].due == item.due else { continue }
      entries[index].due = nil
      entries[index].isTaken = true
      postings.append(
        Posting(
          number: item.number, at: item.due, customer: entries[index].customer,
          signedPayload: entries[index].signedPayload,
          fault: faults.removeValue(forKey: item.number)))
    }
    return postings
  }

  /// Makes an attempt due again that was not made.
  package mutating func putBack(_ posting: Posting) {
    guard let index = index(of: posting.number) else { return }
    entries[index].isTaken = false
    entries[index].due = posting.at
    agenda.insert(Item(due: posting.at, number: posting.number))
    faults[posting.number] = posting.fault
  }

  /// Notes what came of an attempt, and when the next one is due.
  ///
  /// - Parameter isRetried: whether Apple sends again after such a failure.
  package mutating func attempted(
    _ number: Int, result: SendAttemptResult, isRetried: Bool = true, at moment: Milliseconds
  ) {
    guard let index = index(of: number) else { return }
    let retry = entries[index].attempts.count
    entries[index].isTaken = false
    entries[index].attempts.append(PostingAttempt(date: moment, result: result))
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
    for entry in entries[firstIndex(after: number)...] where filter.admits(entry) {
      guard found.count < count else { return (found, last, true) }
      found.append(entry)
      last = entry.number
    }
    return (found, last, false)
  }
}
