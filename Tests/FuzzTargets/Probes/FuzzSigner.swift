import Cryptography
import EntitlementDomain
import StoreSimulator
import Verification

/// A simulated App Store whose signatures the fuzzed verifier trusts. It signs mutated payloads,
/// since a fuzzer cannot sign.
///
/// Each process generates other keys. Inputs of a corpus must not depend on them, so they have the
/// forms of ``complete(_:)``.
struct FuzzSigner: Sendable {
  /// Fuzzing needs keys, so a failure to generate them may trap.
  static let shared = FuzzSigner(authority: try! SigningAuthority.generate())

  /// 2024-01-01T00:00:00Z: the date of verification for payloads without a signing date.
  static let now: Milliseconds = 1_704_067_200_000

  /// The maximum number of payloads inside one input. The App Store puts two into a notification.
  static let innerPayloads = 3

  let authority: SigningAuthority
  let verifier: JWSVerifier
  /// The policy of a service.
  let policy: VerificationPolicy
  /// Accepts any app and environment.
  let lenientPolicy = VerificationPolicy(
    expectingBundleID: nil, environment: nil, appAppleID: nil)

  init(authority: SigningAuthority) {
    self.authority = authority
    var anchors = TrustAnchors.apple
    anchors.trust(authority.rootFingerprint, for: TrustAnchor.allEnvironments)
    verifier = JWSVerifier(anchors: anchors)
    policy = VerificationPolicy(apps: [
      VerificationPolicy.App(
        bundleID: SimulatedApp.bundleID, appAppleID: SimulatedApp.appAppleID,
        environments: [.production, .sandbox])
    ])
  }

  /// An input completed to a JWS.
  struct Completed {
    let jws: [UInt8]
    /// The payload, when this signer has signed it.
    let signedPayload: [UInt8]?
  }

  /// - Parameter input: one of three forms. Text that begins with `{` is JSON to sign; if it has
  ///   several lines, each further line is signed too, and replaces `$1`, `$2` or `$3` in the
  ///   first, like the payloads in a notification. Text that begins with a dot gets the header of
  ///   this signer. Anything else is a complete JWS.
  func complete(_ input: [UInt8]) -> Completed {
    switch input.first {
    case UInt8(ascii: "{"):
      let payload = payload(from: input)
      return Completed(jws: sign(payload), signedPayload: payload)
    case UInt8(ascii: "."):
      return Completed(jws: authority.headerSegment + input, signedPayload: nil)
    default:
      return Completed(jws: input, signedPayload: nil)
    }
  }

  /// The signed payload; empty when signing fails.
  func sign(_ payload: [UInt8]) -> [UInt8] {
    Array(((try? authority.sign(payloadJSON: payload)) ?? "").utf8)
  }

  private func payload(from input: [UInt8]) -> [UInt8] {
    let lines = input.split(
      separator: UInt8(ascii: "\n"), maxSplits: Self.innerPayloads, omittingEmptySubsequences: false
    )
    var payload = Array(lines[0])
    for (index, line) in lines.enumerated().dropFirst() {
      payload.replaceFirst(Array("$\(index)".utf8), with: sign(Array(line)))
    }
    return payload
  }
}

extension [UInt8] {
  /// Only the first occurrence: many would make a small input a large one.
  fileprivate mutating func replaceFirst(_ marker: [UInt8], with replacement: [UInt8]) {
    for start in indices where self[start...].starts(with: marker) {
      replaceSubrange(start..<start + marker.count, with: replacement)
      return
    }
  }
}
