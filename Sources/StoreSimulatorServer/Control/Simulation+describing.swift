import EntitlementDomain
import StoreSimulator

// What the control interface says.
extension Simulation {
  private static let maximumPage = 1_000

  var information: JSONObjectWriter {
    var writer = JSONObjectWriter()
    writer.set("bundleId", SimulatedApp.bundleID.rawValue)
    writer.set("appAppleId", SimulatedApp.appAppleID)
    writer.set("environment", environment.rawValue)
    writer.set("rootFingerprint", "\(authority.rootFingerprint)")
    writer.set("issuerId", key.issuerID)
    writer.set("keyId", key.keyID)
    writer.set("seed", number: "\(configuration.world.seed)")
    writer.set("customers", Int64(world.customerCount))
    writer.set("notificationUrl", sender?.url)
    writer.set(
      "products",
      objects: SimulatedApp.products.map { product in
        var object = JSONObjectWriter()
        object.set("productId", product.id.rawValue)
        object.set("type", product.type.rawValue)
        object.set("group", product.group?.rawValue)
        object.set("level", product.level.map { Int64($0) })
        return object
      })
    return writer
  }

  func customers(_ request: StoreRequest) throws(WorldRefusal) -> JSONObjectWriter {
    let limit = request.values("limit").first.map { Int($0) } ?? 100
    guard let limit, (1...Self.maximumPage).contains(limit) else {
      throw WorldRefusal(.invalid, "limit is 1 to \(Self.maximumPage)")
    }
    var start = 0
    if let after = request.values("after").first { start = try world.index(of: after) + 1 }
    let end = min(world.customerCount, start + limit)
    var writer = JSONObjectWriter()
    writer.set("customers", objects: (start..<end).map { summary(of: $0) })
    writer.set("hasMore", end < world.customerCount)
    return writer
  }

  /// A customer with the transactions.
  func describe(_ index: Int) -> JSONObjectWriter {
    var writer = summary(of: index)
    let transactions = world.records.transactions(of: index).map(\.payload)
    writer.set("transactions", objects: transactions.map(Self.describe))
    return writer
  }

  private func summary(of index: Int) -> JSONObjectWriter {
    let summary = world.summary(of: index)
    let stored = world.records.customers[index]
    let transactions = world.records.transactions(of: index).map(\.payload)
    var writer = JSONObjectWriter()
    writer.set("customer", summary.name)
    writer.set("lifeCycle", summary.lifeCycle?.rawValue)
    writer.set("appTransactionId", stored.appTransactionID?.rawValue)
    writer.set("appAccountToken", transactions.compactMap(\.appAccountToken).last?.rawValue)
    writer.set("cardWorks", summary.cardWorks)
    writer.set("sharedBy", summary.sharedBy)
    writer.set("expected", objects: world.expectedStates(of: index).map(\.json))
    return writer
  }

  private static func describe(_ payload: TransactionPayload) -> JSONObjectWriter {
    var writer = JSONObjectWriter()
    writer.set("transactionId", payload.transactionID.rawValue)
    writer.set("originalTransactionId", payload.originalTransactionID.rawValue)
    writer.set("productId", payload.productID.rawValue)
    writer.set("type", payload.type.rawValue)
    writer.set("purchaseDate", payload.purchaseDate.rawValue)
    writer.set("expiresDate", payload.expiresDate?.rawValue)
    writer.set("revocationDate", payload.revocationDate?.rawValue)
    writer.set("inAppOwnershipType", payload.ownership?.rawValue)
    writer.set("orderId", payload.orderID)
    return writer
  }

  /// - Parameter number: that of the last notification before the action.
  func describe(_ outcome: World.Outcome, after number: Int) -> JSONObjectWriter {
    var results: [NotificationUUID: SendAttemptResult] = [:]
    for number in (number + 1)..<max(number + 1, outbox.lastNumber + 1) {
      guard let entry = outbox.entry(number) else { continue }
      results[entry.notification.uuid] = entry.attempts.last?.result
    }
    var writer = JSONObjectWriter()
    writer.set("customer", world.summary(of: outcome.customer).name)
    writer.set("at", outcome.at.rawValue)
    writer.set(
      "transactions",
      objects: outcome.events.flatMap(\.event.transactions).map(Self.describe))
    writer.set(
      "notifications",
      objects: outcome.events.compactMap(\.event.notification).map { notification in
        var object = JSONObjectWriter()
        object.set("notificationType", notification.type)
        object.set("subtype", notification.subtype)
        object.set("notificationUUID", notification.uuid.rawValue)
        object.set("sendAttemptResult", results[notification.uuid]?.rawValue)
        return object
      })
    return writer
  }

  func consumptionAnswer() -> JSONObjectWriter {
    var writer = JSONObjectWriter()
    writer.set(
      "consumption",
      objects: consumption.map { received in
        var object = JSONObjectWriter()
        object.set("transactionId", received.transactionID)
        object.set("at", received.at.rawValue)
        object.set("version", received.version)
        // A JSON object, which was read when it came.
        object.set("body", number: String(decoding: received.body, as: UTF8.self))
        return object
      })
    return writer
  }

  func faultsAnswer() -> JSONObjectWriter {
    var writer = JSONObjectWriter()
    writer.set("faults", objects: faults.rules.map(FaultText.describe))
    return writer
  }
}
