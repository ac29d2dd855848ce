import AppStorePayloads
import EntitlementDomain

/// Values of a `verifyReceipt` response. Apple encodes most numbers and flags as strings, but not
/// consistently. Empty strings count as absent.
extension PayloadFields {
  /// An identifier, encoded as a string or as a number.
  ///
  /// - Throws: ``PayloadError``.
  func archivedIdentifier(_ name: StaticString) throws(PayloadError) -> String? {
    guard let text = try? text(name) else { return try integer(name).map { String($0) } }
    return text.isEmpty ? nil : try identifier(name)
  }

  /// - Throws: ``PayloadError``.
  func archivedInteger(_ name: StaticString) throws(PayloadError) -> Int64? {
    guard let text = try? text(name) else { return try integer(name) }
    guard !text.isEmpty else { return nil }
    guard let value = Int64(text) else {
      throw PayloadError(.notAnInteger, "\(name) is not an integer of 64 bits")
    }
    return value
  }

  /// - Throws: ``PayloadError``.
  func archivedMoment(_ name: StaticString) throws(PayloadError) -> Milliseconds? {
    try archivedInteger(name).map(Milliseconds.init(_:))
  }

  /// Whether this is a `receipt` in the style of iOS 6: one transaction, with the app in `bid`.
  var isTransaction: Bool { contains("bid") && !contains("bundle_id") }

  /// The end of a period. In the style of iOS 6 it is milliseconds under a name that else is a text
  /// for people.
  ///
  /// - Throws: ``PayloadError``.
  func archivedExpirationDate() throws(PayloadError) -> Milliseconds? {
    if let moment = try archivedMoment("expires_date_ms") { return moment }
    return try? archivedMoment("expires_date")
  }

  /// The objects of an array, or one object alone.
  ///
  /// - Throws: ``PayloadError``.
  func objectOrObjects(_ name: StaticString) throws(PayloadError) -> [PayloadFields] {
    if let object = try? object(name) { return [object] }
    return try objects(name) ?? []
  }

  /// A flag, encoded as `true`, `"true"`, `1` or `"1"`, and likewise for false.
  ///
  /// - Throws: ``PayloadError``.
  func archivedFlag(_ name: StaticString) throws(PayloadError) -> Bool? {
    if let flag = try? boolean(name) { return flag }
    switch try archivedIdentifier(name) {
    case nil: return nil
    case "true", "1": return true
    case "false", "0": return false
    default: throw PayloadError(.wrongType, "\(name) is neither true nor false")
    }
  }

  /// The offer of a period. `promotional_offer_id` and `offer_code_ref_name` precede the flags,
  /// which are set for any trial.
  ///
  /// - Throws: ``PayloadError``.
  func archivedOffer() throws(PayloadError) -> Offer? {
    let isTrial = try archivedFlag("is_trial_period") ?? false
    let discount: OfferDiscountType? = isTrial ? .freeTrial : nil
    if let identifier = try archivedIdentifier("promotional_offer_id") {
      return Offer(type: .promotional, identifier: identifier, discountType: discount)
    }
    if let name = try archivedIdentifier("offer_code_ref_name") {
      return Offer(type: .offerCode, identifier: name, discountType: discount)
    }
    let isIntroductory = try archivedFlag("is_in_intro_offer_period") ?? false
    return isTrial || isIntroductory ? Offer(type: .introductory, discountType: discount) : nil
  }
}
