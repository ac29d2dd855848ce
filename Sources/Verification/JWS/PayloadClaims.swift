import AppStorePayloads
package import EntitlementDomain

/// The fields of a payload that decide whether it is accepted. Do not trust them before the
/// signature is verified.
package struct PayloadClaims: Sendable {
  /// The environment of a payload.
  package enum Environment: Hashable, Sendable {
    /// No environment, as in payloads of 2021.
    case absent
    /// Not one of ``StoreEnvironment``.
    case unknown
    case known(StoreEnvironment)

    init(_ text: String?) {
      guard let text else {
        self = .absent
        return
      }
      self = StoreEnvironment(rawValue: text).map(Environment.known) ?? .unknown
    }
  }

  package let kind: SignedKind
  /// The signing date; nil if the payload has none.
  package let signedDate: Milliseconds?
  /// Nil if the payload has none. A renewal info never has one.
  package let bundleID: BundleID?
  package let appAppleID: Int64?
  package let environment: Environment
  /// Set if and only if ``kind`` is ``SignedKind/notification``.
  let notification: NotificationPayload?

  /// - Throws: ``PayloadError`` when a field has another type than Apple documents.
  init(_ fields: PayloadFields, kind: SignedKind) throws(PayloadError) {
    self.kind = kind
    switch kind {
    case .transaction, .renewalInfo:
      signedDate = try fields.withDates(ofEnvironmentIn: "environment").moment("signedDate")
      bundleID =
        kind == .transaction ? try fields.identifier("bundleId").map(BundleID.init(_:)) : nil
      appAppleID = nil
      environment = Environment(try fields.identifier("environment"))
      notification = nil
    case .appTransaction:
      signedDate = try fields.withDates(ofEnvironmentIn: "receiptType")
        .moment("receiptCreationDate")
      bundleID = try fields.identifier("bundleId").map(BundleID.init(_:))
      appAppleID = try fields.integer("appAppleId")
      environment = Environment(try fields.identifier("receiptType"))
      notification = nil
    case .notification:
      let payload = try PayloadDecoder.notification(fields)
      signedDate = payload.signedDate
      bundleID = payload.bundleID
      appAppleID = payload.appAppleID
      environment = Environment(payload.environment)
      notification = payload
    }
  }

  /// Whether payloads of this kind have a bundle id.
  var namesApp: Bool { kind != .renewalInfo }

  /// Whether payloads of this kind carry the app's Apple id.
  var namesAppAppleID: Bool { kind == .notification || kind == .appTransaction }
}

extension PayloadClaims {
  /// Checks that an inner payload has the app and environment of its notification.
  ///
  /// - Parameter outer: the claims of the enclosing notification.
  /// - Throws: ``Refusal`` with ``Verdict/wrongApp`` or ``Verdict/wrongEnvironment`` when they
  ///   differ.
  func checkAgreement(with outer: PayloadClaims) throws(Refusal) {
    guard !namesApp || bundleID == outer.bundleID else {
      throw Refusal(.wrongApp, "the bundle id differs from that of the notification")
    }
    guard environment == outer.environment else {
      throw Refusal(.wrongEnvironment, "the environment differs from that of the notification")
    }
  }
}
