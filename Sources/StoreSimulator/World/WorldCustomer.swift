import EntitlementDomain

/// A customer of a ``World``. At first the events of a life cycle happen, if the customer is one of
/// the population. After the last of them, or before the first action, the customer is *live*: what
/// happens follows from the payloads and from actions.
struct WorldCustomer: Sendable {
  let name: String
  let lifeCycle: LifeCycle?
  /// How many events of the life cycle have happened.
  var playedEvents = 0
  /// Makes the payloads of a live customer; nil until then.
  var script: LifeCycleScript?
  /// The latest transaction and renewal info of the chain that this customer buys.
  var subscription: ScriptedSubscription?
  /// The latest transaction of the chain that a family member pays for.
  var shared: TransactionPayload?
  /// The payer of ``shared``; nil when sharing has ended.
  var sharedBy: Int?
  /// The payer's transaction that ``shared`` follows.
  var followed: TransactionID?
  /// The customers who share the subscription of this one.
  var members: [Int] = []
  /// Whether charges succeed.
  var cardWorks = true
  /// When the renewal date was extended (at most twice in 365 days).
  var extensions: [Milliseconds] = []
  /// When something happens next without an action; nil when nothing will.
  var due: Milliseconds?
}

/// Something that happened to a customer.
package struct WorldEvent: Hashable, Sendable {
  /// The customer's index; nil for an event about no customer.
  package let customer: Int?
  package let event: StoreEvent

  package init(customer: Int?, event: StoreEvent) {
    self.customer = customer
    self.event = event
  }
}

/// Why an action is not possible.
package struct WorldRefusal: Error, Hashable, Sendable, CustomStringConvertible {
  package enum Code: Hashable, Sendable {
    /// The action itself makes no sense.
    case invalid
    /// There is no such customer or transaction.
    case notFound
    /// The customer's state does not allow it.
    case impossible
  }

  package let code: Code
  package let description: String

  package init(_ code: Code, _ description: String) {
    self.code = code
    self.description = description
  }
}

/// What there is to say of a customer of a ``World``.
package struct WorldCustomerSummary: Sendable {
  package let index: Int
  package let name: String
  package let lifeCycle: LifeCycle?
  package let cardWorks: Bool
  /// The family member who pays.
  package let sharedBy: String?
}

extension World {
  /// - Parameter index: from 0, below ``customerCount``.
  package func summary(of index: Int) -> WorldCustomerSummary {
    let customer = customers[index]
    return WorldCustomerSummary(
      index: index, name: customer.name, lifeCycle: customer.lifeCycle,
      cardWorks: customer.cardWorks, sharedBy: customer.sharedBy.map { customers[$0].name })
  }
}
