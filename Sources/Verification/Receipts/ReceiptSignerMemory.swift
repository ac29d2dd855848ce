import Cryptography
import Glibc

/// The signers of receipts whose certificates were judged and whose signature was found valid, so
/// that the next receipt costs little more than its own signature. Safe on any thread; its lock is
/// held for comparisons only.
///
/// Bounded: the least recently used is dropped first, and one signer has one place, however its
/// certificates are arranged. So no flood pushes out a real signer.
final class ReceiptSignerMemory: Sendable {
  /// The latest used first.
  private let signers = Guarded<[TrustedReceiptSigner]>([])

  /// The signer with these surroundings, which becomes the latest used.
  func signer(surroundings: [UInt8]) -> TrustedReceiptSigner? {
    signers.withLock { signers in
      guard
        let index = signers.firstIndex(where: { Self.areEqual($0.surroundings, surroundings) })
      else { return nil }
      let signer = signers[index]
      if index > 0 {
        signers.remove(at: index)
        signers.insert(signer, at: 0)
      }
      return signer
    }
  }

  /// - Parameter signer: one whose key has signed a receipt with these surroundings.
  func remember(_ signer: TrustedReceiptSigner) {
    signers.withLock { signers in
      signers.removeAll { $0.isVariant(of: signer) }
      signers.insert(signer, at: 0)
      if signers.count > VerificationLimits.rememberedReceiptSigners { signers.removeLast() }
    }
  }

  /// How much is kept: for tests of its bounds.
  var count: Int { signers.withLock { $0.count } }

  private static func areEqual(_ left: [UInt8], _ right: [UInt8]) -> Bool {
    left.count == right.count && memcmp(left, right, left.count) == 0
  }
}
