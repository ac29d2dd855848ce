/// What a notification asks somebody to do or to know (domain.md §8, R47). Events are for feeds
/// and counters: nothing here decides access (R2).
package enum NotificationReview {
  /// How long Apple waits for an answer to a CONSUMPTION_REQUEST, in milliseconds (domain.md §8).
  package static let consumptionDeadline = 12 * Milliseconds.hourLength

  /// Reviews a notification that was not known before, once its facts were merged. Pure: "now" is
  /// the notification's own `signedDate`.
  ///
  /// - Parameters:
  ///   - notification: as it was verified.
  ///   - inner: the facts of the signed payloads inside it, as they came, whether they stand or
  ///     not.
  ///   - facts: the standing facts of the chains and app transactions that `inner` names, after the
  ///     merge, in any order; those of other chains are passed over.
  /// - Returns: what the type says first, then the reasons for a refetch, each at most once. None
  ///   for a notification that names no app: there is nobody to tell.
  package static func events(
    of notification: SignedNotification, bringing inner: [Fact], facts: [Fact], catalog: Catalog
  ) -> [FeedEvent] {
    guard let scope = notification.record.scope else { return [] }
    let content = ReviewedContent(notification.record, bringing: inner)
    var events = [event(of: notification, content)].compactMap(\.self)
    if !content.missing.isEmpty {
      events.append(
        content.refetchDue(.payloadMissing, detail: content.missing.fieldNames))
    }
    guard let chain = ReviewedChain(content, in: scope, facts: facts, catalog: catalog) else {
      return events
    }
    if chain.isSuccessorMissing {
      events.append(content.refetchDue(.successorMissing))
    }
    if let mismatch = chain.statusMismatch {
      events.append(content.refetchDue(.statusMismatch, detail: mismatch))
    } else if chain.isRenewalUnexplained {
      events.append(content.refetchDue(.renewalOverdue))
    }
    return events
  }

  /// What the type says by itself.
  private static func event(
    of notification: SignedNotification, _ content: ReviewedContent
  ) -> FeedEvent? {
    switch content.type {
    case .consumptionRequest:
      return content.event(
        .consumptionRequested,
        deadline: content.signedDate?.advanced(by: consumptionDeadline),
        detail: consumptionRequestReason(in: notification.signed.payload))
    case .refund: return content.event(.refunded)
    case .refundDeclined: return content.event(.refundDeclined)
    case .refundReversed: return content.event(.refundReversed)
    case .revoke: return content.event(.sharingEnded)
    case .priceIncrease where content.subtype == .pending:
      // Without consent the subscription ends when it should have renewed.
      return content.event(.priceConsentNeeded, deadline: content.renewalInfo?.renewalDate)
    case .rescindConsent: return content.event(.consentRescinded)
    default: return nil
    }
  }

  /// A word of Apple's as it came, bounded; nil when the payload does not give one.
  private static func consumptionRequestReason(in payload: [UInt8]) -> String? {
    // What was verified decodes again; what does not is still worth an event without a reason.
    guard let fields = try? JSONDocument(payload).fields(),
      let decoded = try? PayloadDecoder.notification(fields)
    else { return nil }
    return decoded.consumptionRequestReason?.bounded(toBytes: UnknownValue.maximumLength)
  }
}
