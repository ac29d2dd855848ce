/// How what the App Store signed reaches a server.
package enum Delivery: String, CaseIterable, Sendable {
  /// As an app hands them in: transactions, renewal infos and app transactions.
  case transactions
  /// As the App Store sends them. What no notification carries is handed in as by the app.
  case notifications
  /// Every other event as a notification, the rest as by the app.
  case mixed
}

/// One call to a server.
package enum DeliveryStep: Hashable, Sendable {
  /// Transactions, renewal infos and app transactions, in the order of signing; never empty.
  case facts([String])
  case notification(String)
}

extension Delivery {
  /// The calls that bring a history to a server, in the order of signing. Facts that follow each
  /// other share a call, up to `factsPerCall`.
  ///
  /// - Parameter factsPerCall: positive.
  package func steps(for events: [SignedEvent], factsPerCall: Int) -> [DeliveryStep] {
    var steps: [DeliveryStep] = []
    var waiting: [String] = []
    func flush() {
      for start in stride(from: 0, to: waiting.count, by: factsPerCall) {
        steps.append(.facts(Array(waiting[start..<min(start + factsPerCall, waiting.count)])))
      }
      waiting = []
    }
    for (index, event) in events.enumerated() {
      guard let notification = event.notification, notifies(ofEvent: index) else {
        waiting += event.facts
        continue
      }
      flush()
      steps.append(.notification(notification))
      waiting += event.factsOutsideNotification
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
