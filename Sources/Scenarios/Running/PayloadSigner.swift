import EntitlementDomain
import StoreSimulator

/// Signs what a scenario states, each payload once: signatures differ from one time to the next, and
/// what is handed in again must be the same.
struct PayloadSigner {
  let authority: SigningAuthority
  private var signed: [Int: String] = [:]

  init(authority: SigningAuthority) {
    self.authority = authority
  }

  /// - Throws: ``SimulatorError``.
  mutating func sign(_ item: HandedIn) throws(SimulatorError) -> String {
    switch item {
    case .asIs(let bytes): String(decoding: bytes, as: UTF8.self)
    case .planned(let payload): try sign(payload)
    }
  }

  /// - Returns: the notification, and the payloads inside it in the order of the answer.
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
