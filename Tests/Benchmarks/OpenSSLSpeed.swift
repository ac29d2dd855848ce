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
    let text = try Subprocess.output(
      of: ["openssl", "speed", "-mr", "-seconds", "\(seconds)", rawValue], errors: .hidden
    ).text
    guard let rate = Self.verifications(inMachineReadable: text) else {
      throw Failure(description: "the output of openssl speed \(rawValue) is not understood")
    }
    return rate
  }

  /// The last number of a line like `+F4:3:256:64259.183673:21821.649485`: after the index of the
  /// algorithm and its bits, signatures and verifications per second. Other lines are ignored.
  static func verifications(inMachineReadable text: String) -> Double? {
    for line in text.split(whereSeparator: \.isNewline)
    where line.hasPrefix("+F2:") || line.hasPrefix("+F4:") {
      let fields = line.split(separator: ":")
      // Early versions printed seconds per call, which is a number below one.
      if fields.count == 5, let rate = Double(fields[4]), rate.isFinite, rate > 1 { return rate }
    }
    return nil
  }
}
