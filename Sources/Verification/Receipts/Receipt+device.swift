import Cryptography

extension Receipt {
  /// Checks the hash that binds a receipt to a device: the SHA-1 of the device's identifier, the
  /// opaque value and the bundle id, the latter two as they are in the receipt.
  ///
  /// - Throws: ``Refusal`` with ``Verdict/wrongDevice``.
  func checkDevice(_ identifier: [UInt8]) throws(Refusal) {
    guard !identifier.isEmpty, identifier.count <= VerificationLimits.deviceIdentifierLength else {
      throw Refusal(
        .wrongDevice,
        "no device has an identifier of none or more than "
          + "\(VerificationLimits.deviceIdentifierLength) bytes")
    }
    guard !deviceHash.isEmpty else {
      throw Refusal(.wrongDevice, "the receipt names no device")
    }
    let hash: [UInt8]
    do {
      hash = try SHA1.digest(of: identifier + opaqueValue + bundleIDBytes)
    } catch {
      throw Refusal(error, as: .retryable, in: "device")
    }
    guard ConstantTime.areEqual(hash, deviceHash) else {
      throw Refusal(.wrongDevice, "the receipt was made for another device")
    }
  }
}
