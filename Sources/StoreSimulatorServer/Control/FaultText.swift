import AppStorePayloads
import EntitlementDomain
import StoreSimulator

/// The JSON form of faults.
enum FaultText {
  /// - Throws: ``WorldRefusal`` or ``PayloadError``.
  static func rule(of fields: PayloadFields, now: Milliseconds) throws -> FaultPlan.Rule {
    let probability = try number(fields, "probability") ?? 1
    guard (0...1).contains(probability) else {
      throw WorldRefusal(.invalid, "probability is 0 to 1")
    }
    let count = try fields.integer("count")
    guard count.map({ (1...1_000_000).contains($0) }) ?? true else {
      throw WorldRefusal(.invalid, "count is 1 to 1000000")
    }
    let duration = try fields.integer("forMs")
    guard duration.map({ $0 > 0 }) ?? true else {
      throw WorldRefusal(.invalid, "forMs must be positive")
    }
    let path = try fields.identifier("path")
    guard path.map({ $0.hasPrefix("/inApps/") && $0.utf8.count <= 200 }) ?? true else {
      throw WorldRefusal(.invalid, "path begins with /inApps/")
    }
    return FaultPlan.Rule(
      try kind(of: fields), probability: probability, count: count.map(Int.init(clamping:)),
      until: duration.map { now.advanced(by: $0) }, path: path)
  }

  private static func kind(of fields: PayloadFields) throws -> FaultPlan.Kind {
    let delay = try fields.integer("delayMs")
    switch (try fields.identifier("on"), try fields.identifier("kind")) {
    case ("notifications", "lost"): return .notification(.lost)
    case ("notifications", "failed"): return .notification(.failed)
    case ("notifications", "doubled"): return .notification(.doubled)
    case ("notifications", "reordered"): return .notification(.reordered)
    case ("notifications", "late"):
      let delay = delay ?? Milliseconds.hourLength
      guard (1...30 * Milliseconds.dayLength).contains(delay) else {
        throw WorldRefusal(.invalid, "delayMs is 1 to 30 days")
      }
      return .notification(.late(delay))
    case ("api", "unauthorized"): return .request(.unauthorized)
    case ("api", "cut"): return .request(.cut)
    case ("api", "wrong-environment"): return .request(.wrongEnvironment)
    case ("api", "slow"):
      let delay = delay ?? 2_000
      guard (1...60_000).contains(delay) else {
        throw WorldRefusal(.invalid, "delayMs is 1 to 60000")
      }
      return .request(.slow(delay))
    case ("api", "error"):
      let error = SimulatedAPIError(try fields.integer("errorCode") ?? 5_000_001)
      guard error.isKnown else { throw WorldRefusal(.invalid, "errorCode is not known") }
      return .request(.error(error.code))
    default:
      throw WorldRefusal(
        .invalid,
        "on is notifications (kind lost, failed, late, doubled or reordered) or api (kind error, "
          + "unauthorized, slow, cut or wrong-environment)")
    }
  }

  private static func number(_ fields: PayloadFields, _ name: StaticString) throws -> Double? {
    guard let text = try fields.number(name) else { return nil }
    return Double(text)
  }

  static func describe(_ rule: FaultPlan.Rule) -> JSONObjectWriter {
    var writer = JSONObjectWriter()
    switch rule.kind {
    case .notification(let fault):
      writer.set("on", "notifications")
      switch fault {
      case .lost: writer.set("kind", "lost")
      case .failed: writer.set("kind", "failed")
      case .doubled: writer.set("kind", "doubled")
      case .reordered: writer.set("kind", "reordered")
      case .late(let delay):
        writer.set("kind", "late")
        writer.set("delayMs", delay)
      }
    case .request(let fault):
      writer.set("on", "api")
      switch fault {
      case .unauthorized: writer.set("kind", "unauthorized")
      case .cut: writer.set("kind", "cut")
      case .wrongEnvironment: writer.set("kind", "wrong-environment")
      case .slow(let delay):
        writer.set("kind", "slow")
        writer.set("delayMs", delay)
      case .error(let code):
        writer.set("kind", "error")
        writer.set("errorCode", code)
      }
    }
    writer.set("probability", number: "\(rule.probability)")
    writer.set("count", rule.remaining.map { Int64($0) })
    writer.set("until", rule.until?.rawValue)
    writer.set("path", rule.path)
    return writer
  }
}
