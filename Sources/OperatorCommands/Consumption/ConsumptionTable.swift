import EntitlementDomain
import Wire

/// Consumption requests as text for a terminal.
enum ConsumptionTable {
  /// One line each.
  static func text(of requests: [ConsumptionRequestEntry]) -> String {
    var table = TextTable(
      header: ["REQUEST", "TRANSACTION", "STATE", "CAUSE", "ASKED", "UNTIL", "ATTEMPTS", "DETAIL"])
    for request in requests {
      table.add([
        "\(request.requestID)", request.transactionID.rawValue, state(of: request),
        cause(of: request) ?? "-", request.requestedAt.display, request.answerUntil.display,
        "\(request.attempts)", request.detail ?? "-",
      ])
    }
    return table.text
  }

  /// One line for each property.
  static func details(_ request: ConsumptionRequestEntry) -> String {
    var lines = [
      StateTable.line("request", "\(request.requestID)"),
      StateTable.line("app", request.scope.display),
      StateTable.line("transaction", request.transactionID.rawValue),
    ]
    func add(_ name: String, _ value: String?) {
      if let value { lines.append(StateTable.line(name, value)) }
    }
    add("state", state(of: request))
    add("cause", cause(of: request))
    add("detail", request.detail)
    add("reason", request.requestReason)
    add("asked", request.requestedAt.display)
    add("until", request.answerUntil.display)
    add("attempts", "\(request.attempts)")
    add("changed", request.changedAt.display)
    add("consumed", request.percentage.map { "\(ConsumptionPercentage.text($0)) %" })
    add("delivery", request.delivery.map { wireName($0) })
    add("notification", request.notificationUUID?.rawValue)
    return lines.joined(separator: "\n")
  }

  static func consent(_ consent: ConsumptionConsentEntry) -> String {
    var lines = [
      StateTable.line("consents", consent.isConsented ? "yes" : "no"),
      StateTable.line("recorded", consent.recordedAt.display),
    ]
    func add(_ name: String, _ value: String?) {
      if let value { lines.append(StateTable.line(name, value)) }
    }
    add("author", consent.author)
    add("on behalf of", consent.onBehalfOf)
    add("reason", consent.reason)
    return lines.joined(separator: "\n")
  }

  /// A value that this version does not know is a dash.
  private static func state(of request: ConsumptionRequestEntry) -> String {
    request.state.map { wireName($0) } ?? "-"
  }

  private static func cause(of request: ConsumptionRequestEntry) -> String? {
    request.cause.map { wireName($0) }
  }
}
