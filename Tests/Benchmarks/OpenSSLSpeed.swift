import LoadClient

/// What `openssl speed` measures of one algorithm, for comparison: it does nothing but the curve.
enum OpenSSLSpeed: String {
  case ecdsaP256 = "ecdsap256"
  case rsa2048

  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  /// Verifications in a second of processor time, on one thread.
  ///
  /// - Parameter seconds: how long it measures; it signs for as long before that.
  /// - Throws: ``Subprocess/Failure`` when there is no `openssl`, ``Failure`` when its output is not
  ///   understood.
  func verificationsPerSecond(seconds: Int) throws -> Double {
    let text = try Subprocess.output(
      of: ["openssl", "speed", "-mr", "-seconds", "\(seconds)", rawValue], errors: .hidden
    ).text
    guard let rate = Self.verifications(inMachineReadable: text) else {
      throw Failure(description: "the output of openssl speed \(rawValue) is not understood")
    }
    return rate
  }

  /// The last number of a line like `+F4:3:256:64259.183673:21821.649485`: after the algorithm's
  /// index and its bits, signatures and verifications a second. Other lines are passed over.
  static func verifications(inMachineReadable text: String) -> Double? {
    for line in text.split(whereSeparator: \.isNewline)
    where line.hasPrefix("+F2:") || line.hasPrefix("+F4:") {
      let fields = line.split(separator: ":")
      // A rate below one would be seconds a call, as early versions told.
      if fields.count == 5, let rate = Double(fields[4]), rate.isFinite, rate > 1 { return rate }
    }
    return nil
  }
}
