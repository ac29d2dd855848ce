import Cryptography
import Glibc

/// What was decided about headers, so that a signer's certificates are judged once and not for
/// each payload. Safe on any thread; its lock is held for comparisons only.
///
/// Trusted signers and refusals are kept apart, and neither part grows beyond its limit.
/// Certificates are public, so anyone can write headers that are judged well: a signer is to be
/// remembered only when its signature over that very header was found valid. Then no flood pushes
/// out a real signer.
final class SignerMemory: Sendable {
  private struct State {
    /// The latest used first. Real signers are few, and headers differ within their first bytes,
    /// so comparing beats hashing five kilobytes.
    var trusted: [TrustedSigner] = []
    var refusals: [SHA256Digest: Refusal] = [:]
    /// The keys of `refusals`, a ring once it is full.
    var refusalOrder: [SHA256Digest] = []
    var oldestRefusal = 0
  }

  private let state = Guarded(State())

  /// The signer with this header, which becomes the latest used.
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

  /// - Parameter signer: one whose key has signed its header.
  func remember(_ signer: TrustedSigner) {
    state.withLock { state in
      // Two threads may have judged the same header at once.
      guard !state.trusted.contains(where: { $0.header == signer.header }) else { return }
      state.trusted.insert(signer, at: 0)
      if state.trusted.count > VerificationLimits.rememberedSigners { state.trusted.removeLast() }
    }
  }

  func refusal(of header: SHA256Digest) -> Refusal? {
    state.withLock { $0.refusals[header] }
  }

  /// - Parameter header: the SHA-256 of the header segment.
  func remember(_ refusal: Refusal, of header: SHA256Digest) {
    // Passing trouble decides nothing about a header.
    guard refusal.verdict != .retryable else { return }
    state.withLock { state in
      guard state.refusals.updateValue(refusal, forKey: header) == nil else { return }
      if state.refusalOrder.count < VerificationLimits.rememberedRefusals {
        state.refusalOrder.append(header)
      } else {
        state.refusals[state.refusalOrder[state.oldestRefusal]] = nil
        state.refusalOrder[state.oldestRefusal] = header
        state.oldestRefusal = (state.oldestRefusal + 1) % VerificationLimits.rememberedRefusals
      }
    }
  }

  /// How much is kept: for tests of its bounds.
  var counts: (trusted: Int, refusals: Int) {
    state.withLock { ($0.trusted.count, $0.refusals.count) }
  }

  private static func areEqual(_ known: [UInt8], _ header: UnsafeRawBufferPointer) -> Bool {
    guard known.count == header.count, let start = header.baseAddress else { return false }
    return known.withUnsafeBytes { bytes in
      bytes.baseAddress.map { memcmp($0, start, header.count) == 0 } ?? false
    }
  }
}
