/// How signed payloads are delivered to a server.
package enum Delivery: String, CaseIterable, Sendable {
  /// As an app submits them: transactions, renewal infos and app transactions.
  case transactions
  /// As notifications of the App Store. Facts that no notification carries are submitted as by an
  /// app.
  case notifications
  /// Every other event as a notification, the rest as by an app.
  case mixed
}

/// One call to a server.
package enum DeliveryStep: Hashable, Sendable {
  /// Transactions, renewal infos and app transactions, in the order of signing; never empty.
  case facts([String])
  case notification(String)
}

extension Delivery {
  /// The calls that deliver a history to a server, in the order of signing. Consecutive facts share
  /// a call, up to `factsPerCall`.
  ///
  /// - Parameter factsPerCall: positive.
  package func steps(for events: [SignedEvent], factsPerCall: Int) -> [DeliveryStep] {
    var steps: [DeliveryStep] = []
    var pending: [String] = []
    func flush() {
      for start in stride(from: 0, to: pending.count, by: factsPerCall) {
        steps.append(.facts(Array(pending[start..<min(start + factsPerCall, pending.count)])))
      }
      pending = []
    }
    for (index, event) in events.enumerated() {
      guard let notification = event.notification, notifies(ofEvent: index) else {
        pending += event.facts
        continue
      }
      flush()
      steps.append(.notification(notification))
      pending += event.factsOutsideNotification
    }
    flush()
    return steps
  }

  private func notifies(ofEvent index: Int) -> Bool {
    switch self {
    case .transactions: false
    case .notifications: true
    case .mixed: index.isMultiple(of: 2)
    }
  }
}
