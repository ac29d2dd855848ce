package import EntitlementDomain

/// What a payload says of itself that decides whether it is accepted. Not to be believed before
/// its signature was checked.
package struct PayloadClaims: Sendable {
  /// The environment that a payload names.
  package enum Environment: Hashable, Sendable {
    /// Payloads of 2021 name none.
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
  /// When it was signed; nil where it does not say.
  package let signedDate: Milliseconds?
  /// Nil where it names none, as every renewal info.
  package let bundleID: BundleID?
  package let appAppleID: Int64?
  package let environment: Environment
  /// Set when and only when ``kind`` is ``SignedKind/notification``.
  let notification: NotificationPayload?

  /// - Throws: ``PayloadError`` when a field that is read here has another type than Apple
  ///   documents.
  init(_ fields: PayloadFields, kind: SignedKind) throws(PayloadError) {
    self.kind = kind
    switch kind {
    case .transaction, .renewalInfo:
      signedDate = try fields.moment("signedDate")
      bundleID =
        kind == .transaction ? try fields.identifier("bundleId").map(BundleID.init(_:)) : nil
      appAppleID = nil
      environment = Environment(try fields.identifier("environment"))
      notification = nil
    case .appTransaction:
      signedDate = try fields.moment("receiptCreationDate")
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

  /// Whether payloads of this kind name the app they are for.
  var namesApp: Bool { kind != .renewalInfo }

  /// Whether payloads of this kind carry the app's Apple id.
  var namesAppAppleID: Bool { kind == .notification || kind == .appTransaction }
}
