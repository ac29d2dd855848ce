import Cryptography
import Glibc
import Locks

/// Caches receipt signers with a validated chain and a verified signature, so that the next receipt
/// costs little more than its signature check. Safe on any thread.
///
/// An LRU cache with one entry for each signer, whatever the order of its certificates. So forged
/// receipts cannot evict a real signer.
final class ReceiptSignerCache: Sendable {
  /// Most recently used first.
  private let signers = LockedValue<[TrustedReceiptSigner]>([])

  /// Returns the signer with this cache key and marks it as most recently used.
  func signer(cacheKey: [UInt8]) -> TrustedReceiptSigner? {
    signers.withLock { signers in
      guard
        let index = signers.firstIndex(where: { Self.areEqual($0.cacheKey, cacheKey) })
      else { return nil }
      let signer = signers[index]
      if index > 0 {
        signers.remove(at: index)
        signers.insert(signer, at: 0)
      }
      return signer
    }
  }

  /// - Parameter signer: a signer with a verified signature of a receipt with its cache key.
  func insert(_ signer: TrustedReceiptSigner) {
    signers.withLock { signers in
      signers.removeAll { $0.isVariant(of: signer) }
      signers.insert(signer, at: 0)
      if signers.count > VerificationLimits.cachedReceiptSigners { signers.removeLast() }
    }
  }

  /// Number of entries, for tests of the limits.
  var count: Int { signers.withLock { $0.count } }

  private static func areEqual(_ left: [UInt8], _ right: [UInt8]) -> Bool {
    left.count == right.count && memcmp(left, right, left.count) == 0
  }
}

/// A receipt signer with a trusted certificate chain, reused for all receipts with the same cache
/// key.
final class TrustedReceiptSigner: Sendable {
  /// ``ReceiptEnvelope/cacheKey``.
  let cacheKey: [UInt8]
  let key: CMSVerifyingKey
  let chain: CertificateChain
  let anchor: TrustAnchor

  init(
    cacheKey: [UInt8], key: CMSVerifyingKey, chain: CertificateChain,
    anchor: TrustAnchor
  ) {
    self.cacheKey = cacheKey
    self.key = key
    self.chain = chain
    self.anchor = anchor
  }

  /// Whether the other signer has the same leaf and hash function. The certificates of a receipt
  /// are an unordered set, so anyone can reorder them and change the cache key.
  func isVariant(of other: TrustedReceiptSigner) -> Bool {
    chain.leaf.fingerprint == other.chain.leaf.fingerprint && key.digest == other.key.digest
  }
}
