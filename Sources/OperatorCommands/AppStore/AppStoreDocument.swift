import EntitlementDomain
import Foundation
import Programs
import Wire

/// Answers about signed payloads as JSON and as text.
enum AppStoreDocument {
  /// A message, whose contents of payloads are JSON inside the document and no texts.
  static func json(_ message: some WireMessage) throws -> JSONValue {
    opened(try JSONValue(message))
  }

  private static func opened(_ value: JSONValue) -> JSONValue {
    switch value {
    case .array(let elements): return .array(elements.map(opened))
    case .object(let members):
      var result = members.mapValues(opened)
      if case .text(let text)? = members["payload"], let payload = content(text) {
        result["payload"] = payload
      }
      return .object(result)
    default: return value
    }
  }

  private static func content(_ text: String) -> JSONValue? {
    try? JSONDecoder().decode(JSONValue.self, from: Data(text.utf8))
  }

  // MARK: Text

  /// A payload on its own: a line, and Apple's fields.
  static func details(of payload: AppStorePayload) -> String {
    var lines = [heading(of: payload)]
    if let text = payload.payload {
      lines.append(OutputOptions.indented(Array(text.utf8)))
    }
    if let signed = payload.signedPayload { lines.append(signed) }
    return lines.map { TerminalText.escaped($0, keepsLines: true) }.joined(separator: "\n")
  }

  private static func heading(of payload: AppStorePayload) -> String {
    var parts = [wireName(payload.verdict)]
    if let kind = payload.kind { parts.append(wireName(kind)) }
    if let detail = payload.detail { parts.append(detail) }
    if payload.isOmitted { parts.append("its contents are too long for the answer") }
    if let stored = payload.stored { parts.append("stored: \(disposition(stored))") }
    return parts.joined(separator: "  ")
  }

  /// One line for each transaction.
  static func table(of payloads: [AppStorePayload]) -> String {
    var table = TextTable(
      header: [
        "TRANSACTION", "CHAIN", "PRODUCT", "PURCHASED", "EXPIRES", "REVOKED", "VERDICT", "STORED",
      ])
    for payload in payloads {
      let fields = fields(of: payload)
      table.add([
        text(fields["transactionId"]) ?? "-", text(fields["originalTransactionId"]) ?? "-",
        text(fields["productId"]) ?? "-", moment(fields["purchaseDate"]) ?? "-",
        moment(fields["expiresDate"]) ?? "-", moment(fields["revocationDate"]) ?? "-",
        verdict(of: payload), payload.stored.map(disposition) ?? "-",
      ])
    }
    return table.text
  }

  static func table(of subscriptions: [AppStoreSubscription]) -> String {
    var table = TextTable(
      header: ["CHAIN", "GROUP", "PRODUCT", "STATUS", "EXPIRES", "RENEWS", "VERDICTS", "STORED"])
    for subscription in subscriptions {
      let transaction = fields(of: subscription.transaction)
      let renewal = subscription.renewalInfo.map { fields(of: $0) } ?? [:]
      let payloads = [subscription.transaction, subscription.renewalInfo].compactMap(\.self)
      var renews = "-"
      if case .integer(let status)? = renewal["autoRenewStatus"] {
        renews = status == 1 ? moment(renewal["renewalDate"]) ?? "yes" : "no"
      }
      table.add(
        [
          subscription.originalTransactionID.rawValue,
          subscription.subscriptionGroupID?.rawValue ?? "-", text(transaction["productId"]) ?? "-",
          subscription.status.map { wireName($0) } ?? "-",
          moment(transaction["expiresDate"]) ?? "-",
          renews,
          payloads.map { verdict(of: $0) }.joined(separator: ", "),
          payloads.compactMap(\.stored).map(disposition).joined(separator: ", "),
        ].map { $0.isEmpty ? "-" : $0 })
    }
    return table.text
  }

  static func table(of notifications: [AppStoreNotification]) -> String {
    var table = TextTable(
      header: ["SIGNED", "TYPE", "SUBTYPE", "CHAIN", "VERDICT", "ATTEMPTS", "STORED"])
    for notification in notifications {
      let fields = fields(of: notification.notification)
      let chain = notification.payloads.lazy.compactMap {
        text(Self.fields(of: $0)["originalTransactionId"])
      }.first
      let last = notification.attempts.max { $0.attemptedAt < $1.attemptedAt }
      let attempts = last.map {
        "\(notification.attempts.count), \($0.result) at \($0.attemptedAt.display)"
      }
      let stored = notification.stored.map { stored in
        stored.verdict != .ok
          ? wireName(stored.verdict) : stored.isDuplicate ? "DUPLICATE" : "ADDED"
      }
      table.add([
        moment(fields["signedDate"]) ?? "-", text(fields["notificationType"]) ?? "-",
        text(fields["subtype"]) ?? "-", chain ?? "-", verdict(of: notification.notification),
        attempts ?? "0", stored ?? "-",
      ])
    }
    return table.text
  }

  static func details(of change: AppStoreChangeResponse, done: String) -> String {
    var lines = [StateTable.line("app", change.scope.display)]
    func add(_ name: String, _ value: String?) {
      if let value { lines.append(StateTable.line(name, value)) }
    }
    add("change", change.isDryRun ? "none: a dry run" : done)
    add("token", change.testNotificationToken)
    add("request", change.requestIdentifier)
    add("status", change.subscriptionStatus.map { wireName($0) })
    add(change.isDryRun ? "renews now" : "renews", change.renewalDate?.display)
    if !change.obstacles.isEmpty {
      add("refused for", change.obstacles.map { wireName($0) }.joined(separator: ", "))
    }
    return lines.joined(separator: "\n")
  }

  static func details(of status: GetRenewalExtensionResponse) -> String {
    var lines = [
      StateTable.line("app", status.scope.display),
      StateTable.line("product", status.productID.rawValue),
      StateTable.line("request", status.requestIdentifier),
      StateTable.line("complete", status.isComplete ? "yes" : "no"),
    ]
    for (name, value) in [
      ("completed", status.completedAt?.display), ("extended", status.succeeded.map { "\($0)" }),
      ("not extended", status.failed.map { "\($0)" }),
    ] {
      if let value { lines.append(StateTable.line(name, value)) }
    }
    return lines.joined(separator: "\n")
  }

  // MARK: Cells

  private static func verdict(of payload: AppStorePayload) -> String {
    wireName(payload.verdict) + (payload.detail.map { ": \($0)" } ?? "")
  }

  private static func disposition(_ item: SubmittedItemResult) -> String {
    item.disposition.map { wireName($0) } ?? wireName(item.verdict)
  }

  private static func fields(of payload: AppStorePayload) -> [String: JSONValue] {
    guard let text = payload.payload, case .object(let fields)? = content(text) else { return [:] }
    return fields
  }

  private static func text(_ value: JSONValue?) -> String? {
    if case .text(let text)? = value { text } else { nil }
  }

  private static func moment(_ value: JSONValue?) -> String? {
    if case .integer(let number)? = value { Milliseconds(number).display } else { nil }
  }

  // MARK: The exit code

  /// - Throws: ``CommandFailure`` without a message if a payload was refused: what was printed says so.
  static func checkVerdicts(_ payloads: [AppStorePayload]) throws(CommandFailure) {
    if payloads.contains(where: { $0.verdict != .ok }) { throw CommandFailure(.refused, nil) }
  }
}
