/// Makes facts of payloads: the JSON inside what the App Store signed, as it was kept or as it was
/// just verified. Decoding says nothing about authenticity.
///
/// Enumerated values that are not known yet are kept raw, and unknown fields are passed over (R10).
/// A field of another type than Apple documents is an error, since its meaning is in doubt.
package enum PayloadDecoder {
  /// - Parameters:
  ///   - payload: the decoded JSON.
  ///   - digest: the SHA-256 of `payload`.
  ///   - bundleID: the app that a renewal info, which names none, is bound to. The other kinds name
  ///     their own.
  /// - Throws: ``PayloadError`` when it is not JSON, or lacks what the fact cannot be without.
  package static func fact(
    kind: FactKind, payload: [UInt8], digest: PayloadDigest, bundleID: BundleID
  ) throws(PayloadError) -> Fact {
    let fields = try JSONDocument(payload).fields()
    switch kind {
    case .transaction:
      return .transaction(try transaction(fields, digest: digest))
    case .renewalInfo:
      return .renewalInfo(try renewalInfo(fields, digest: digest, bundleID: bundleID))
    case .appTransaction:
      return .appTransaction(try appTransaction(fields, digest: digest))
    }
  }

  /// The environment that a field names.
  ///
  /// - Throws: ``PayloadError/Code/environmentAbsent`` and
  ///   ``PayloadError/Code/environmentUnknown`` apart from each other.
  static func environment(
    _ name: StaticString, in fields: PayloadFields
  ) throws(PayloadError) -> StoreEnvironment {
    guard let value = try fields.identifier(name) else {
      throw PayloadError(.environmentAbsent, field: name, "is missing")
    }
    guard let environment = StoreEnvironment(rawValue: value) else {
      throw PayloadError(.environmentUnknown, field: name, "is not an environment that is known")
    }
    return environment
  }

  /// The offer of a period; nil without an `offerType`.
  static func offer(in fields: PayloadFields) throws(PayloadError) -> Offer? {
    guard let type = try fields.integer("offerType") else { return nil }
    return Offer(
      type: OfferType(rawValue: type),
      identifier: try fields.identifier("offerIdentifier"),
      discountType: try fields.identifier("offerDiscountType").map(
        OfferDiscountType.init(rawValue:)),
      period: try fields.identifier("offerPeriod"))
  }

  /// `appAccountToken` in lower case. It is a hint and not an identity (R43), so text that is no
  /// UUID counts as absent rather than as an error.
  static func appAccountToken(in fields: PayloadFields) throws(PayloadError) -> AppAccountToken? {
    guard let text = try fields.text("appAccountToken") else { return nil }
    var characters = Array(text.utf8)
    guard characters.count == 36 else { return nil }
    for (index, character) in characters.enumerated() {
      switch (index, character) {
      case (8, UInt8(ascii: "-")), (13, UInt8(ascii: "-")), (18, UInt8(ascii: "-")),
        (23, UInt8(ascii: "-")):
        break
      case (8, _), (13, _), (18, _), (23, _):
        return nil
      case (_, UInt8(ascii: "0")...UInt8(ascii: "9")), (_, UInt8(ascii: "a")...UInt8(ascii: "f")):
        break
      case (_, UInt8(ascii: "A")...UInt8(ascii: "F")):
        characters[index] = character | 0x20
      default:
        return nil
      }
    }
    return AppAccountToken(String(decoding: characters, as: UTF8.self))
  }
}
