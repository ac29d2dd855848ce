import LoadClient
import PostgresBulkLoader

/// Algorithms that `openssl speed` measures, for comparison: it does nothing but the signatures.
enum OpenSSLSpeed: String {
  case ecdsaP256 = "ecdsap256"
  case rsa2048

  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  /// Verifications per second of processor time, on one thread.
  ///
  /// - Parameter seconds: how long verifying is measured; signing is measured for as long before
  ///   it.
  /// - Throws: ``Subprocess/Failure`` when there is no `openssl`, ``Failure`` when its output is not
  ///   understood.
  func verificationsPerSecond(seconds: Int) throws -> Double {
    try rates(seconds: seconds).verifications
  }

  /// Signatures per second of processor time, on one thread; else as
  /// ``verificationsPerSecond(seconds:)``.
  func signaturesPerSecond(seconds: Int) throws -> Double {
    try rates(seconds: seconds).signatures
  }

  private func rates(seconds: Int) throws -> (signatures: Double, verifications: Double) {
    let text = try Subprocess.output(
      of: ["openssl", "speed", "-mr", "-seconds", "\(seconds)", rawValue], errors: .hidden
    ).text
    guard let rates = Self.rates(inMachineReadable: text) else {
      throw Failure(description: "the output of openssl speed \(rawValue) is not understood")
    }
    return rates
  }

  /// The last numbers of a line like `+F4:3:256:64259.183673:21821.649485`: after the index of the
  /// algorithm and its bits, signatures and verifications per second. Other lines are ignored.
  static func rates(
    inMachineReadable text: String
  ) -> (signatures: Double, verifications: Double)? {
    for line in text.split(whereSeparator: \.isNewline)
    where line.hasPrefix("+F2:") || line.hasPrefix("+F4:") {
      let fields = line.split(separator: ":")
      // Early versions printed seconds per call, which is a number below one.
      if fields.count == 5, let signatures = Double(fields[3]),
        let verifications = Double(fields[4]), verifications.isFinite, verifications > 1
      {
        return (signatures, verifications)
      }
    }
    return nil
  }
}
