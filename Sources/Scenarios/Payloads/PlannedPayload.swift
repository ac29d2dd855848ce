/// A payload that is still to be signed. Each is signed once in a run, so that what is handed in
/// again is the same.
struct PlannedPayload: Sendable {
  /// Its place among all payloads of the scenario.
  let number: Int
  let json: [UInt8]
}

/// A notification that is still to be signed, with what is signed inside it.
struct PlannedNotification: Sendable {
  /// Its place among all payloads of the scenario.
  let number: Int
  /// All members but the one that holds signed payloads.
  let outer: PayloadObject
  /// `data` or `appData`; nil for a notification about something else.
  let subject: (name: String, members: PayloadObject)?
  let transaction: PlannedPayload?
  let renewalInfo: PlannedPayload?
  let appTransaction: PlannedPayload?

  /// In the order in which the service answers for them.
  var inner: [(field: String, payload: PlannedPayload)] {
    let all = [
      ("signedTransactionInfo", transaction), ("signedRenewalInfo", renewalInfo),
      ("signedAppTransactionInfo", appTransaction),
    ]
    return all.compactMap { field, payload in payload.map { (field, $0) } }
  }
}

/// One item of a submission.
enum HandedIn: Sendable {
  case planned(PlannedPayload)
  /// Signed by somebody else, or by nobody.
  case asIs([UInt8])
}
