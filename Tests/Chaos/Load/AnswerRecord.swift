import EntitlementDomain
import Synchronization

/// Everything that was sent and everything that was answered. All answered writes must be stored in
/// the end.
final class AnswerRecord: Sendable {
  struct KnownFact: Sendable {
    /// Every version that was sent.
    var versions: [PayloadDigest: FactPrecedence] = [:]
    /// The greatest answered version; nil when none was answered.
    var answered: FactPrecedence?
  }

  /// An account that owns a chain according to the answer to its submission.
  struct Claim: Hashable, Sendable {
    let target: LinkTarget
    let account: AccountID
  }

  /// A change that was confirmed to an operator.
  struct OperatorChange: Hashable, Sendable {
    let target: LinkTarget
    /// Nil for an unlinking.
    let account: AccountID?
    /// A unique note.
    let note: String
  }

  struct Contents: Sendable {
    var facts: [FactKey: KnownFact] = [:]
    var notifications: Set<NotificationUUID> = []
    var places: [CustomerStock.Place] = []
    /// How often each claim was answered.
    var claims: [Claim: Int] = [:]
    var changes: Set<OperatorChange> = []
  }

  private let state = Mutex(Contents())

  var contents: Contents { state.withLock { $0 } }

  var placeCount: Int { state.withLock { $0.places.count } }

  func willSend(_ facts: [Fact]) {
    state.withLock { state in
      for fact in facts {
        state.facts[fact.key, default: KnownFact()].versions[fact.digest] = fact.precedence
      }
    }
  }

  func answered(
    _ facts: [Fact], notification: NotificationUUID? = nil, at place: CustomerStock.Place? = nil
  ) {
    state.withLock { state in
      for fact in facts {
        let known = state.facts[fact.key]?.answered
        state.facts[fact.key]?.answered = known.map { max($0, fact.precedence) } ?? fact.precedence
      }
      if let notification { state.notifications.insert(notification) }
      if let place { state.places.append(place) }
    }
  }

  func answered(_ claim: Claim) {
    state.withLock { $0.claims[claim, default: 0] += 1 }
  }

  func answered(_ change: OperatorChange) {
    state.withLock { _ = $0.changes.insert(change) }
  }
}
