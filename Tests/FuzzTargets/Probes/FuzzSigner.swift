import Cryptography
import EntitlementDomain
import StoreSimulator
import Verification

/// A simulated App Store whose signatures the fuzzed verifier trusts, so that mutated payloads get
/// past the signature: a fuzzer cannot sign.
///
/// Its keys differ from process to process. What must stay the same in a corpus is therefore written
/// without them, in the forms of ``complete(_:)``.
struct FuzzSigner: Sendable {
  /// Without keys nothing can be fuzzed, so failing to make them may trap.
  static let shared = FuzzSigner(authority: try! SigningAuthority.generate())

  /// 2024-01-01T00:00:00Z: judged where a payload does not say when it was signed.
  static let now: Milliseconds = 1_704_067_200_000

  /// Payloads inside one input. The App Store puts two into a notification.
  static let innerPayloads = 3

  let authority: SigningAuthority
  let verifier: JWSVerifier
  /// As a service has it.
  let policy: VerificationPolicy
  /// Accepts any app and environment.
  let lenientPolicy = VerificationPolicy(
    expectingBundleID: nil, environment: nil, appAppleID: nil)

  init(authority: SigningAuthority) {
    self.authority = authority
    var anchors = TrustAnchors.apple
    anchors.trust(authority.rootFingerprint)
    verifier = JWSVerifier(anchors: anchors)
    policy = VerificationPolicy(apps: [
      VerificationPolicy.App(
        bundleID: SimulatedApp.bundleID, appAppleID: SimulatedApp.appAppleID,
        environments: [.production, .sandbox])
    ])
  }

  /// An input as a JWS.
  struct Completed {
    let jws: [UInt8]
    /// The payload, where the signature was made here.
    let signedPayload: [UInt8]?
  }

  /// - Parameter input: one of three forms. One that begins with `{` is JSON to sign; where it has
  ///   more lines, each is signed too and stands in the first for `$1`, `$2` and `$3`, as payloads
  ///   in a notification do. One that begins with a dot gets this signer's header. Anything else is
  ///   a JWS as it is.
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

  /// What the authority signs; empty where it cannot.
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
  /// Only the first: many would make a small input a large one.
  fileprivate mutating func replaceFirst(_ marker: [UInt8], with replacement: [UInt8]) {
    for start in indices where self[start...].starts(with: marker) {
      replaceSubrange(start..<start + marker.count, with: replacement)
      return
    }
  }
}
