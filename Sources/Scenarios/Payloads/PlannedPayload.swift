import EntitlementDomain
import StoreSimulator

/// A payload before it is signed. ``PayloadSigner`` signs it once in a run.
struct PlannedPayload: Sendable {
  /// The number of the payload within the scenario.
  let number: Int
  let json: [UInt8]
}

/// A notification before it is signed, with the payloads inside it.
struct PlannedNotification: Sendable {
  /// The number of the payload within the scenario.
  let number: Int
  /// All members except the one with the signed payloads.
  let outer: PayloadObject
  /// The member with the signed payloads, such as `data` or `appData`; nil for a notification
  /// without one.
  let subject: (name: String, members: PayloadObject)?
  let transaction: PlannedPayload?
  let renewalInfo: PlannedPayload?
  let appTransaction: PlannedPayload?

  /// The payloads inside it, in the order of the answer's results.
  var inner: [(field: String, payload: PlannedPayload)] {
    let all = [
      ("signedTransactionInfo", transaction), ("signedRenewalInfo", renewalInfo),
      ("signedAppTransactionInfo", appTransaction),
    ]
    return all.compactMap { field, payload in payload.map { (field, $0) } }
  }
}

/// One item of a submission.
enum SubmissionItem: Sendable {
  case planned(PlannedPayload)
  /// Submitted as it is: signed elsewhere, or not signed.
  case verbatim([UInt8])
}

/// Signs the payloads of a scenario, each once. Signing a payload twice gives different
/// signatures, but a repeated submission must be identical.
struct PayloadSigner {
  let authority: SigningAuthority
  private var signed: [Int: String] = [:]

  init(authority: SigningAuthority) {
    self.authority = authority
  }

  /// - Throws: ``SimulatorError``.
  mutating func sign(_ item: SubmissionItem) throws(SimulatorError) -> String {
    switch item {
    case .verbatim(let bytes): String(decoding: bytes, as: UTF8.self)
    case .planned(let payload): try sign(payload)
    }
  }

  /// - Returns: the signed notification, and the signed payloads inside it in the order of the
  ///   answer's results.
  /// - Throws: ``SimulatorError``.
  mutating func sign(
    _ notification: PlannedNotification
  ) throws(SimulatorError) -> (notification: String, inner: [String]) {
    var inner: [String] = []
    var object = notification.outer
    if let subject = notification.subject {
      var members = subject.members
      for part in notification.inner {
        let jws = try sign(part.payload)
        members[part.field] = .text(jws)
        inner.append(jws)
      }
      object[subject.name] = .object(members)
    }
    let whole = try sign(PlannedPayload(number: notification.number, json: object.bytes))
    return (whole, inner)
  }

  private mutating func sign(_ payload: PlannedPayload) throws(SimulatorError) -> String {
    if let known = signed[payload.number] { return known }
    let jws = try authority.sign(payloadJSON: payload.json)
    signed[payload.number] = jws
    return jws
  }
}
