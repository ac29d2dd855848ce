import Cryptography
import EntitlementDomain
import StoreSimulator
import TestSupport
import Testing

@testable import Verification

@Suite("A header that was hashed before")
struct HeaderHashTests {
  @Test func `the digest is that of the whole, at every length of both parts`() throws {
    var random = SeededRandom(for: "header hash")
    func bytes(_ count: Int) -> [UInt8] {
      (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &random) }
    }
    for length in Array(0...130) + [4_095, 4_096, 4_097, 16_384] {
      let start = bytes(length)
      let beginning = try SHA256.Prefix(start)
      // Again and again from the same beginning: it must stay as it is.
      for rest in [0, 1, 63, 64, 65, length % 64, 1_000].map(bytes) {
        let digest = try rest.withUnsafeBytes { bytes throws(CryptographyError) in
          try beginning.digest(followedBy: bytes)
        }
        #expect(try digest == SHA256.digest(of: start + rest), "\(length) and \(rest.count)")
      }
    }
  }

  @Test func `a known signer's payloads get the same verdicts as a new one's`() throws {
    let workshop = Workshop.shared
    let warm = workshop.verifier
    var modulo: Set<Int> = []
    for length in 0..<64 {
      var header = Header(x5c: workshop.chain)
      header.more = ",\"n\":\"\(String(repeating: "a", count: length))\""
      modulo.insert(header.segment.utf8.count % 64)
      let good = try workshop.sign(header: header)
      let otherKey = try workshop.sign(header: header, key: Workshop.twin.authority.leaf.key)
      var otherPayload = good
      let dot = try #require(good.firstIndex(of: UInt8(ascii: ".")))
      // "eyJ" begins every object: its second character becomes another one.
      otherPayload[dot + 20] ^= 1
      var otherHeader = good
      otherHeader[dot - 6] ^= 1
      // The first teaches the signer.
      #expect(verdict(warm, good) == .ok)
      for jws in [good, otherKey, otherPayload, otherHeader, Array(good.dropLast(4))] {
        #expect(verdict(warm, jws) == verdict(workshop.verifier, jws))
      }
      #expect(verdict(warm, otherKey) == .invalidSignature)
    }
    // Base64 of every length but those that cannot occur, so not 1 modulo 4.
    #expect(modulo == Set((0..<64).filter { $0 % 4 != 1 }))
  }

  @Test func `one signer serves many threads at once`() async throws {
    let workshop = Workshop.shared
    let pool = VerificationPool(verifier: workshop.verifier, width: 4)
    let batches = try (0..<8).map { caller in
      try (0..<64).map { index in
        VerificationPool.Item(
          jws: try workshop.sign(
            .transaction().with("transactionId", "\"\(caller * 1_000 + index)\"")))
      }
    }
    try await withThrowingTaskGroup { group in
      for batch in batches {
        group.addTask {
          let results = try await pool.run(batch, policy: .scribe, now: Workshop.signedDate)
          #expect(results.allSatisfy { if case .success = $0 { true } else { false } })
        }
      }
      try await group.waitForAll()
    }
    #expect(pool.statistics.verdicts == [.ok: 512])
    await pool.shutdown()
  }
}
