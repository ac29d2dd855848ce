import EntitlementDomain
import TestSupport

@testable import Wire

extension LinkTarget {
  static func random(using generator: inout SeededRandom) -> LinkTarget {
    Bool.random(using: &generator)
      ? .chain(.random(using: &generator)) : .appTransaction(.random(using: &generator))
  }
}

extension LinkReason {
  /// All of them.
  static let everyReason: [LinkReason] = [
    .named, .claimed, .appAccountToken, .appTransaction, .previousChain, .imported, .merged,
    .assigned, .unassigned, .transferred, .deleted, .yielded,
    .settled, .refused,
  ]

  static func random(using generator: inout SeededRandom) -> LinkReason {
    everyReason.randomElement(using: &generator)!
  }
}

extension SubmittedCustomer.Subject {
  static func random(using generator: inout SeededRandom) -> SubmittedCustomer.Subject {
    Bool.random(using: &generator)
      ? .account(.random(using: &generator)) : .unlinkedChain(.random(using: &generator))
  }
}

extension LinkResponse {
  static func random(using generator: inout SeededRandom) -> LinkResponse {
    LinkResponse(
      isChanged: .random(using: &generator), targets: many(using: &generator, LinkTarget.random),
      customers: many(using: &generator) { generator in
        SubmittedCustomer(
          subject: .random(using: &generator), scope: .random(using: &generator),
          revision: .random(in: .min ... .max, using: &generator))
      })
  }
}

extension AccountLink {
  static func random(using generator: inout SeededRandom) -> AccountLink {
    AccountLink(
      target: .random(using: &generator), since: .random(using: &generator),
      reason: maybe(using: &generator, LinkReason.random), isUnsigned: .random(using: &generator))
  }
}

extension LinkHistoryEntry {
  static func random(using generator: inout SeededRandom) -> LinkHistoryEntry {
    LinkHistoryEntry(
      target: .random(using: &generator), at: .random(using: &generator),
      fromAccountID: maybe(using: &generator) { .random(using: &$0) },
      toAccountID: maybe(using: &generator) { .random(using: &$0) },
      isFromDeleted: .random(using: &generator), isToDeleted: .random(using: &generator),
      reason: maybe(using: &generator, LinkReason.random),
      author: maybe(using: &generator, randomText), note: maybe(using: &generator, randomText),
      onBehalfOf: maybe(using: &generator, randomText),
      tokenID: maybe(using: &generator, randomText), traceID: maybe(using: &generator, randomText))
  }
}

extension CustomerHistoryEntry {
  static func random(using generator: inout SeededRandom) -> CustomerHistoryEntry {
    let occurrence: Occurrence =
      switch Int.random(in: 0..<4, using: &generator) {
      case 0: .link(.random(using: &generator))
      case 1: .grant(.random(using: &generator))
      case 2: .grantWithdrawal(.random(using: &generator))
      default:
        .notification(
          NotificationEntry(
            notificationUUID: .random(using: &generator), type: randomText(using: &generator),
            subtype: maybe(using: &generator, randomText),
            signedDate: maybe(using: &generator) { .random(using: &$0) }))
      }
    return CustomerHistoryEntry(at: .random(using: &generator), occurrence: occurrence)
  }
}

extension UnlinkedChainEntry {
  static func random(using generator: inout SeededRandom) -> UnlinkedChainEntry {
    UnlinkedChainEntry(
      originalTransactionID: .random(using: &generator),
      revision: .random(in: .min ... .max, using: &generator),
      changedAt: .random(using: &generator))
  }
}

extension ReceivedNotificationEntry {
  static func random(using generator: inout SeededRandom) -> ReceivedNotificationEntry {
    ReceivedNotificationEntry(
      notificationUUID: .random(using: &generator),
      notificationType: randomText(using: &generator),
      subtype: maybe(using: &generator, randomText),
      scope: maybe(using: &generator) { .random(using: &$0) },
      signedDate: maybe(using: &generator) { .random(using: &$0) },
      receivedAt: .random(using: &generator),
      originalTransactionID: maybe(using: &generator) { .random(using: &$0) },
      status: maybe(using: &generator) { .random(in: .min ... .max, using: &$0) })
  }
}

extension Set<ChangeKind> {
  static func random(using generator: inout SeededRandom) -> Set<ChangeKind> {
    Set(ChangeKind.allCases.filter { _ in Bool.random(using: &generator) })
  }
}

extension CustomerChange {
  static func random(using generator: inout SeededRandom) -> CustomerChange {
    CustomerChange(
      sequence: .random(in: .min ... .max, using: &generator), scope: .random(using: &generator),
      subject: maybe(using: &generator, SubmittedCustomer.Subject.random),
      committedAt: .random(using: &generator), kinds: .random(using: &generator),
      events: many(using: &generator, FeedEvent.random),
      state: maybe(using: &generator, CustomerState.random))
  }
}

extension WatchCustomerStatesRequest {
  static func random(using generator: inout SeededRandom) -> WatchCustomerStatesRequest {
    WatchCustomerStatesRequest(
      cursor: maybe(using: &generator, randomText), bundleID: .random(using: &generator),
      environment: StoreEnvironment.allCases.randomElement(using: &generator)!,
      accountIDs: many(using: &generator) { .random(using: &$0) },
      kinds: .random(using: &generator), isWithoutStates: .random(using: &generator))
  }
}
