package import EntitlementDomain

/// A claim that was refused (R91). Of each account and target only the last one is kept.
package struct RefusedClaim: Hashable, Sendable {
  package var key: Key
  package var author: LinkAuthor?
  /// The 16 bytes of the id of the call's trace, if it was traced.
  package var traceID: [UInt8]?
  package var at: Milliseconds

  /// A target and the account that claimed it, which may be unknown otherwise.
  package struct Key: Hashable, Sendable {
    package let target: ScopedTarget
    package let claimer: AccountID

    package init(_ target: ScopedTarget, by claimer: AccountID) {
      self.target = target
      self.claimer = claimer
    }

    var account: ScopedAccount { ScopedAccount(target.scope, claimer) }
  }

  package init(_ key: Key, author: LinkAuthor?, traceID: [UInt8]? = nil, at: Milliseconds) {
    self.key = key
    self.author = author
    self.traceID = traceID
    self.at = at
  }

  /// The step of a history that tells of it.
  package var event: TargetLinkEvent {
    TargetLinkEvent(
      target: key.target.target,
      event: LinkEvent(
        from: nil, to: key.claimer, reason: .refused, author: author, traceID: traceID, at: at))
  }

  /// How many are kept of an account, and of a target: the latest ones.
  package static let limit = 20
  /// How long one is kept, in milliseconds.
  package static let lifetime = 90 * Milliseconds.dayLength
  /// A repetition within this time, in milliseconds, changes nothing: apps submit at each start.
  static let repetition = Milliseconds.dayLength
}

extension [TargetLinkEvent] {
  /// A history with the refused claims in their places. The other steps keep their order.
  package func adding(_ refused: [RefusedClaim]) -> [TargetLinkEvent] {
    if refused.isEmpty { return self }
    var steps: [TargetLinkEvent] = []
    var rest = refused.sorted { $0.at < $1.at }[...]
    for step in self {
      while let next = rest.first, next.at < step.event.at {
        steps.append(next.event)
        rest.removeFirst()
      }
      steps.append(step)
    }
    return steps + rest.map(\.event)
  }
}
