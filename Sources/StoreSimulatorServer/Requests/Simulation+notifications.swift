import AppStorePayloads
import EntitlementDomain
import StoreSimulator

// Endpoints about notifications.
extension Simulation {
  /// How long the token of a test notification is valid, in days: six months.
  private static let testTokenDays: Int64 = 183

  func requestTest(_ call: StoreCall) throws(SimulatedAPIError) -> StoreAnswer {
    guard sender != nil, !call.isOtherEnvironment else { throw .noNotificationURL }
    let events = world.requestTestNotification()
    guard let notification = events.last?.event.notification else { throw .unknown }
    try announce(events)
    var writer = JSONObjectWriter()
    writer.set(
      "testNotificationToken",
      "\(notification.uuid.rawValue)_\(notification.signedDate.rawValue)")
    return .json(writer)
  }

  func testStatus(_ call: StoreCall) throws(SimulatedAPIError) -> StoreAnswer {
    let parts = call.parameters[0].split(separator: "_", omittingEmptySubsequences: false)
    guard parts.count == 2, Self.isUUID(String(parts[0])), let signed = Int64(parts[1]) else {
      throw .invalidTestToken
    }
    let date = Milliseconds(signed)
    guard date.advanced(by: Self.testTokenDays * Milliseconds.dayLength) > world.now,
      let entry = outbox.test(String(parts[0]), signedAt: date), !entry.attempts.isEmpty
    else { throw .testNotFound }
    return .json(Self.item(entry))
  }

  func notificationHistory(_ call: StoreCall) throws(SimulatedAPIError) -> StoreAnswer {
    let other = environment == .production ? StoreEnvironment.sandbox : .production
    var filter = try Self.period(
      call, now: world.now,
      days: NotificationOutbox.historyDays(
        of: call.isOtherEnvironment ? other : environment))
    filter.type = try call.text("notificationType", or: .invalidNotificationType)
    filter.subtype = try call.text("notificationSubtype", or: .invalidNotificationType)
    if let type = filter.type, !NotificationType(rawValue: type).isKnown {
      throw .invalidNotificationType
    }
    if let subtype = filter.subtype,
      filter.type == nil || !NotificationSubtype(rawValue: subtype).isKnown
    {
      throw .invalidNotificationType
    }
    let id = try call.text("transactionId", or: .invalidTransactionID)
    if let id {
      guard filter.type == nil else { throw .multipleFilters }
      guard StoreCall.isID(id) else { throw .invalidTransactionID }
      guard !call.isOtherEnvironment,
        let index = world.records.transactions[TransactionID(id)]?.customer
      else { throw .transactionNotFound }
      filter.customer = index
    }
    filter.onlyFailures =
      try call.boolean("onlyFailures", or: .badRequest) ?? false
    return try page(call, filter)
  }

  private static func period(
    _ call: StoreCall, now: Milliseconds, days: Int64
  ) throws(SimulatedAPIError) -> NotificationOutbox.Filter {
    let start = try call.integer("startDate", or: .invalidStartDate)
    guard let start, start >= 0 else { throw .invalidStartDate }
    let end = try call.integer("endDate", or: .invalidEndDate)
    guard let end, end >= 0 else { throw .invalidEndDate }
    guard start < end else { throw .startAfterEnd }
    guard Milliseconds(start) >= now.advanced(by: -days * Milliseconds.dayLength) else {
      throw .startTooFarInPast
    }
    // An end in the future is now. What is signed now is included.
    return NotificationOutbox.Filter(
      startDate: Milliseconds(start), endDate: min(Milliseconds(end), now.advanced(by: 1)))
  }

  private func page(
    _ call: StoreCall, _ filter: NotificationOutbox.Filter
  ) throws(SimulatedAPIError) -> StoreAnswer {
    // The end is left out, as one in the future moves.
    let query =
      "notifications \(filter.startDate) \(filter.type ?? "") \(filter.subtype ?? "") "
      + "\(filter.customer ?? -1) \(filter.onlyFailures)"
    var position: Int64 = -1
    if let token = call.request.values("paginationToken").first {
      guard let known = PageToken.position(of: token, in: query), known >= 0,
        known <= Int64(outbox.lastNumber)
      else {
        throw .invalidPaginationToken
      }
      position = known
    }
    let (entries, last, hasMore) =
      call.isOtherEnvironment
      ? ([], -1, false)
      : outbox.history(filter, after: Int(clamping: position), count: Self.pageSize)
    var writer = JSONObjectWriter()
    if hasMore {
      writer.set("paginationToken", PageToken(position: Int64(last), query: query).text)
    }
    writer.set("hasMore", hasMore)
    writer.set("notificationHistory", objects: entries.map(Self.item))
    return .json(writer)
  }

  private static func item(_ entry: NotificationOutbox.Entry) -> JSONObjectWriter {
    var writer = JSONObjectWriter()
    writer.set("signedPayload", entry.signedPayload)
    writer.set(
      "sendAttempts",
      objects: entry.attempts.map { attempt in
        var object = JSONObjectWriter()
        object.set("attemptDate", attempt.date.rawValue)
        object.set("sendAttemptResult", attempt.result.rawValue)
        return object
      })
    return writer
  }
}
