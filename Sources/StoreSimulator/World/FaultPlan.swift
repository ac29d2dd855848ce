package import EntitlementDomain

/// What goes wrong with the first attempt to send a notification.
package enum NotificationFault: Hashable, Sendable {
  /// Recorded as a success, and never sent.
  case lost
  /// Recorded as NO_RESPONSE, and not sent.
  case failed
  /// Sent later, by so many milliseconds.
  case late(Int64)
  /// Sent twice.
  case doubled
  /// Sent after the others that are due with it.
  case reordered
}

/// What goes wrong with a request of the App Store Server API.
package enum RequestFault: Hashable, Sendable {
  /// Answered with an error of this code.
  case error(Int64)
  /// Answered with 401.
  case unauthorized
  /// Answered this much later, in milliseconds of real time.
  case slow(Int64)
  /// The connection is closed without an answer.
  case cut
  /// Answered as by the other environment: no transaction is known.
  case wrongEnvironment
}

/// The faults that were asked for: how often each occurs is decided by the seed.
package struct FaultPlan: Sendable {
  package enum Kind: Hashable, Sendable {
    case notification(NotificationFault)
    case request(RequestFault)
  }

  /// A fault, and when it occurs.
  package struct Rule: Sendable {
    package let kind: Kind
    /// From 0 to 1.
    package let probability: Double
    /// How often it still occurs; nil: any number of times.
    package internal(set) var remaining: Int?
    /// The virtual time at which it ends; nil: never.
    package let until: Milliseconds?
    /// The beginning of the paths that it concerns; nil: all.
    package let path: String?

    package init(
      _ kind: Kind, probability: Double = 1, count: Int? = nil, until: Milliseconds? = nil,
      path: String? = nil
    ) {
      self.kind = kind
      self.probability = probability
      self.remaining = count
      self.until = until
      self.path = path
    }
  }

  /// The maximum number of rules.
  package static let maximumCount = 100

  package private(set) var rules: [Rule] = []
  /// Two, so that the faults of notifications do not depend on the requests between them.
  private var notificationChances: SeededGenerator
  private var requestChances: SeededGenerator

  package init(seed: UInt64) {
    notificationChances = SeededGenerator(seed: seed, label: "faults")
    requestChances = SeededGenerator(seed: seed, label: "request faults")
  }

  /// - Throws: ``WorldRefusal`` when there are too many.
  package mutating func add(_ rule: Rule) throws(WorldRefusal) {
    guard rules.count < Self.maximumCount else {
      throw WorldRefusal(.impossible, "there are \(Self.maximumCount) faults already")
    }
    rules.append(rule)
  }

  package mutating func removeAll() {
    rules = []
  }

  /// The fault of the next notification; nil for none.
  package mutating func nextNotification(at moment: Milliseconds) -> NotificationFault? {
    guard
      case .notification(let fault) = next(
        at: moment, by: \.notificationChances,
        where: { if case .notification = $0.kind { true } else { false } })
    else { return nil }
    return fault
  }

  /// The fault of the next request; nil for none.
  ///
  /// - Parameter path: from `/inApps` on.
  package mutating func nextRequest(_ path: String, at moment: Milliseconds) -> RequestFault? {
    guard
      case .request(let fault) = next(
        at: moment, by: \.requestChances,
        where: { rule in
          guard case .request = rule.kind else { return false }
          return rule.path.map(path.hasPrefix) ?? true
        })
    else { return nil }
    return fault
  }

  /// The first rule that applies and whose chance comes.
  private mutating func next(
    at moment: Milliseconds, by chances: WritableKeyPath<Self, SeededGenerator>,
    where concerns: (Rule) -> Bool
  ) -> Kind? {
    rules.removeAll { rule in rule.remaining == 0 || rule.until.map { $0 <= moment } ?? false }
    for index in rules.indices where concerns(rules[index]) {
      // 53 bits, the precision of a Double.
      let chance = Double(self[keyPath: chances].next() >> 11) / 9_007_199_254_740_992
      guard chance < rules[index].probability else { continue }
      rules[index].remaining = rules[index].remaining.map { $0 - 1 }
      return rules[index].kind
    }
    return nil
  }
}
