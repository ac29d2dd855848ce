import AppStoreServerAPI
import EntitlementDomain
import EntitlementService
import EntitlementStore
import NIOCore

// Asks for the notifications of an app, and stores the ones that did not arrive (R81). The first pass
// lists all notifications since the job's moment. The second pass goes further back, and lists only
// failed deliveries.
extension JobAttempt {
  /// Where a reconciliation continues. All pages of a pass need the same request.
  private struct ReconciliationCursor {
    enum Pass: Int {
      case all = 1
      case failures = 2
    }

    var pass = Pass.all
    /// The end of the time that is asked for.
    let end: Milliseconds
    /// The pagination token; nil for the first page.
    var token: String?

    init(end: Milliseconds) {
      self.end = end
    }

    /// - Parameter text: the pass, the end and the token, with spaces between them.
    init?(_ text: String) {
      let parts = text.split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false)
      guard parts.count == 3, let pass = Int(parts[0]).flatMap(Pass.init(rawValue:)),
        let end = Int64(parts[1])
      else { return nil }
      self.pass = pass
      self.end = Milliseconds(end)
      token = parts[2].isEmpty ? nil : String(parts[2])
    }

    var text: String { "\(pass.rawValue) \(end.rawValue) \(token ?? "")" }
  }

  /// - Returns: until when all notifications were asked for.
  mutating func reconcile() async throws(AttemptFault) -> Milliseconds? {
    let now = recovery.clock.now()
    var position = ReconciliationCursor(cursor) ?? ReconciliationCursor(end: now)
    // The App Store no longer lists all of a time that was begun long ago; or a clock was wrong.
    if position.end > now || position.end.advanced(by: Self.longestReading) < now {
      position = ReconciliationCursor(end: now)
    }
    while true {
      if let query = query(position) { try await fetchNotifications(query, &position) }
      guard position.pass == .all else { return position.end }
      position.pass = .failures
      position.token = nil
      cursor = position.text
      try await keep()
    }
  }

  /// How long the same time may be read. The oldest notifications that the App Store lists may leave its
  /// list meanwhile, so they are not asked for.
  private static var longestReading: Duration { .seconds(86_400) }

  /// - Returns: nil when there is nothing to ask for.
  private func query(_ position: ReconciliationCursor) -> NotificationHistoryQuery? {
    let span = scope.environment.notificationSpan - Self.longestReading
    let earliest = position.end.advanced(by: .zero - span)
    let retried = position.end.advanced(by: .zero - recovery.limits.retrySpan)
    let since = max(job.since ?? retried, earliest)
    let range =
      switch position.pass {
      case .all: (since, position.end)
      case .failures: (max(retried, earliest), since)
      }
    guard range.0 < range.1 else { return nil }
    return NotificationHistoryQuery(
      startDate: range.0, endDate: range.1, onlyFailures: position.pass == .failures)
  }

  private mutating func fetchNotifications(
    _ query: NotificationHistoryQuery, _ position: inout ReconciliationCursor
  ) async throws(AttemptFault) {
    var mayRestart = true
    var tokens: Set<String> = []
    var page: SentNotificationPage? = nil
    while true {
      do throws(AttemptFault) {
        let current: SentNotificationPage
        if let page { current = page } else { current = try await ask(query, from: position.token) }
        // While a page is stored, the next one is on its way.
        let attempt = self
        async let following = attempt.following(current, query)
        try await submit(current.notifications)
        guard let token = current.next, let next = await following else { return }
        guard tokens.insert(token).inserted else { throw .unexplained(Self.endlessPages) }
        position.token = token
        cursor = position.text
        try await keep()
        page = try next.get()
        answered()
      } catch {
        guard mayRestart, position.token != nil, error.refusesToken else { throw error }
        // The token is out of date. The pass begins again; what is stored is known.
        mayRestart = false
        tokens = []
        page = nil
        position.token = nil
      }
    }
  }

  private mutating func ask(
    _ query: NotificationHistoryQuery, from token: String?
  ) async throws(AttemptFault) -> SentNotificationPage {
    let scope = scope
    return try await ask { (client, deadline) async throws(AppStoreServerError) in
      try await client.notifications(in: scope, matching: query, from: token, deadline: deadline)
    }
  }

  /// - Returns: nil after the last page.
  private func following(
    _ page: SentNotificationPage, _ query: NotificationHistoryQuery
  ) async -> Result<SentNotificationPage, AttemptFault>? {
    guard let token = page.next else { return nil }
    let left = timeLeft
    guard left > .zero else { return .failure(.timeIsUp) }
    do throws(AppStoreServerError) {
      return .success(
        try await recovery.client.notifications(
          in: scope, matching: query, from: token, deadline: .now() + TimeAmount(left)))
    } catch {
      return .failure(.appStore(error))
    }
  }
}

extension AttemptFault {
  /// Whether the App Store does not know a pagination token, or not any more.
  fileprivate var refusesToken: Bool {
    guard case .appStore(let error) = self else { return false }
    return [4_000_014, 4_000_017].contains(error.errorCode?.rawValue)
  }
}
