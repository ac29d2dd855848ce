import Cryptography
import Glibc
import Locks

/// Caches validation results by JWS header, so that a certificate chain is validated once and not
/// for each payload. Safe on any thread.
///
/// Trusted signers and refusals are cached separately, each up to a limit. Certificates are public,
/// so anyone can build a header with a valid chain. A signer must be added only after its signature
/// over that header was verified. Then forged headers cannot evict a real signer.
final class SignerCache: Sendable {
  private struct State {
    /// Most recently used first. Real signers are few and their headers differ early, so comparing
    /// is faster than hashing 5 kB.
    var trusted: [TrustedSigner] = []
    var refusals: [SHA256Digest: Refusal] = [:]
    /// The keys of `refusals`, a ring buffer once it is full.
    var refusalOrder: [SHA256Digest] = []
    var oldestRefusal = 0
  }

  private let state = LockedValue(State())

  /// Returns the signer with this header and marks it as most recently used.
  func trustedSigner(header: UnsafeRawBufferPointer) -> TrustedSigner? {
    state.withLock { state in
      guard
        let index = state.trusted.firstIndex(where: { Self.areEqual($0.header, header) })
      else { return nil }
      let signer = state.trusted[index]
      if index > 0 {
        state.trusted.remove(at: index)
        state.trusted.insert(signer, at: 0)
      }
      return signer
    }
  }

  /// Whether there is a signer with this header. Its place stays: anybody may ask.
  func contains(header: UnsafeRawBufferPointer) -> Bool {
    state.withLock { $0.trusted.contains { Self.areEqual($0.header, header) } }
  }

  /// - Parameter signer: a signer with a verified signature over its header.
  func insert(_ signer: TrustedSigner) {
    state.withLock { state in
      // Two threads may have validated the same header at once.
      guard !state.trusted.contains(where: { $0.header == signer.header }) else { return }
      state.trusted.insert(signer, at: 0)
      if state.trusted.count > VerificationLimits.cachedSigners { state.trusted.removeLast() }
    }
  }

  func refusal(of header: SHA256Digest) -> Refusal? {
    state.withLock { $0.refusals[header] }
  }

  /// - Parameter header: the SHA-256 of the header segment.
  func insert(_ refusal: Refusal, of header: SHA256Digest) {
    // A transient failure says nothing about the header.
    guard refusal.verdict != .retryable else { return }
    state.withLock { state in
      guard state.refusals.updateValue(refusal, forKey: header) == nil else { return }
      if state.refusalOrder.count < VerificationLimits.cachedRefusals {
        state.refusalOrder.append(header)
      } else {
        state.refusals[state.refusalOrder[state.oldestRefusal]] = nil
        state.refusalOrder[state.oldestRefusal] = header
        state.oldestRefusal = (state.oldestRefusal + 1) % VerificationLimits.cachedRefusals
      }
    }
  }

  /// Number of entries, for tests of the limits.
  var counts: (trusted: Int, refusals: Int) {
    state.withLock { ($0.trusted.count, $0.refusals.count) }
  }

  /// The signer that was used last, for tests.
  var mostRecent: TrustedSigner? { state.withLock { $0.trusted.first } }

  private static func areEqual(_ known: [UInt8], _ header: UnsafeRawBufferPointer) -> Bool {
    guard known.count == header.count, let start = header.baseAddress else { return false }
    return known.withUnsafeBytes { bytes in
      bytes.baseAddress.map { memcmp($0, start, header.count) == 0 } ?? false
    }
  }
}
