import AppStoreServerAPI
import Cryptography
import EntitlementDomain
import Foundation
import TestSupport
import Testing

@Suite("Signed offers", .timeLimit(.minutes(2)))
struct OfferSigningTests {
  private static let token: AppAccountToken = "3f1c8a52-9f0e-4b7d-8a67-5d2e6c90b1f4"
  private static let now: Milliseconds = 1_790_000_000_987

  /// Ids with characters that JSON or a separated text could get wrong. Catalogs accept all.
  private static let ids = [
    "com.example.scribe.pro.monthly", "half-price_2026", "a", "50%off", "\"quoted\"\\n", "émile",
    "é\u{301}", "割引🙂", "a.b,c;d|e", "\u{200b}", "'$(true)'", String(repeating: "o", count: 255),
  ]

  private func statement(_ product: String, _ content: OfferStatement.Content) -> OfferStatement {
    OfferStatement(app: Bench.app.bundleID, productID: ProductID(product), content: content)
  }

  private func verifierCase(
    _ statement: OfferStatement, _ signature: OfferSignature
  ) -> OfferVerifier.Case {
    var result = OfferVerifier.Case(
      "v2", bundleID: statement.app.rawValue, keyID: Bench.keyID, issuerID: Bench.issuerID,
      productID: statement.productID.rawValue, signed: Self.now.rawValue...Self.now.rawValue,
      OfferVerifier.Answer(
        signature: signature.text, keyID: signature.keyID, nonce: signature.nonce,
        timestamp: signature.signedAt.rawValue, expiresAt: signature.expiresAt?.rawValue))
    switch statement.content {
    case .promotionalV1(let offer, let token):
      result.form = "v1"
      result.offerId = offer.rawValue
      result.appAccountToken = token?.rawValue
    case .promotionalV2(let offer, let transaction):
      result.offerId = offer.rawValue
      result.transactionId = transaction
    case .introductory(let isAllowed, let transaction):
      result.form = "introductory"
      result.allowed = isAllowed
      result.transactionId = transaction
      result.answer.allowIntroductoryOffer = isAllowed
    }
    return result
  }

  private static let statements: [(String, OfferStatement.Content)] = ids.flatMap { id in
    [
      (id, .promotionalV1(OfferID(id), nil)), (id, .promotionalV1(OfferID(id), token)),
      (id, .promotionalV2(OfferID(id), transactionID: nil)),
      (id, .promotionalV2(OfferID(id), transactionID: "2000000000000001")),
      (id, .introductory(isAllowed: true, transactionID: "704000000000000001")),
      (id, .introductory(isAllowed: false, transactionID: id)),
    ]
  }

  @Test(
    "An independent implementation verifies every form, also with unusual ids",
    .enabled(if: OpenSSL.isInstalled, "the program openssl is not installed"))
  func independent() async throws {
    let folder = try TestSupport.TemporaryFolder()
    try await Bench.run([]) { bench async throws in
      let cases = try Self.statements.map { product, content in
        let statement = statement(product, content)
        let signature = try #require(try bench.client.sign(statement, at: Self.now))
        return verifierCase(statement, signature)
      }
      let key = String(decoding: try Bench.signingKey.get().privateKeyPEM(), as: UTF8.self)
      let outcome = try OfferVerifier.verify(cases, privateKeyPEM: key, in: folder)
      #expect(outcome.output == "\(cases.count) offers verified\n")
      #expect(outcome.status == 0)
      // It is no verifier that accepts everything.
      for change in [
        { $0.productId += "x" }, { $0.keyId += "x" }, { $0.bundleId += "x" }, { $0.offerId = "x" },
        { $0.appAccountToken = "x" }, { $0.answer.nonce = UUID().uuidString.lowercased() },
      ] as [(inout OfferVerifier.Case) -> Void] {
        var wrong = cases[1]
        change(&wrong)
        #expect(try OfferVerifier.verify([wrong], privateKeyPEM: key, in: folder).status == 1)
      }
      for change in [
        { $0.issuerId += "x" }, { $0.transactionId = nil }, { $0.allowed = false },
        { $0.from += 10_000 },
      ] as [(inout OfferVerifier.Case) -> Void] {
        var wrong = cases[4]
        change(&wrong)
        #expect(try OfferVerifier.verify([wrong], privateKeyPEM: key, in: folder).status == 1)
      }
    }
  }

  @Test("A signature has a nonce of its own, the moment, and the end that Apple states")
  func values() async throws {
    try await Bench.run([]) { bench async throws in
      var nonces: Set<String> = []
      for (product, content) in Self.statements {
        let signature = try #require(
          try bench.client.sign(statement(product, content), at: Self.now))
        #expect(nonces.insert(signature.nonce).inserted)
        #expect(signature.nonce == signature.nonce.lowercased())
        #expect(signature.keyID == Bench.keyID)
        if case .promotionalV1 = content {
          #expect(signature.signedAt == Self.now)
          #expect(signature.expiresAt == Self.now.advanced(by: 86_400_000))
        } else {
          #expect(signature.signedAt == 1_790_000_000_000)
          #expect(signature.expiresAt == nil)
        }
      }
    }
  }

  @Test("An app without a key has no signature, and a field with a separator has none in V1")
  func refused() async throws {
    try await Bench.run([]) { bench async throws in
      let other = OfferStatement(
        app: "com.example.other", productID: "p", content: .promotionalV1("o", nil))
      #expect(try bench.client.sign(other, at: Self.now) == nil)
      for (product, offer) in [("p\u{2063}o", "x"), ("p", "o\u{2063}x")] {
        #expect(throws: OfferSigningFault.self) {
          try bench.client.sign(
            statement(product, .promotionalV1(OfferID(offer), nil)), at: Self.now)
        }
      }
    }
  }

  @Test("A key that was replaced in its file signs from the next second on")
  func renewed() async throws {
    let folder = try TestSupport.TemporaryFolder()
    let path = folder.file("key.p8")
    func write(_ key: SigningKey) throws {
      let new = try folder.write(
        String(decoding: try key.privateKeyPEM(), as: UTF8.self), to: "new")
      try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: new)
      guard rename(new, path) == 0 else { throw CocoaError(.fileWriteUnknown) }
    }
    try write(try SigningKey.generate(.p256))
    let keys = try AppStoreServerKeys([
      AppStoreServerKey(
        issuerID: Bench.issuerID, keyID: Bench.keyID, bundleIDs: [Bench.app.bundleID],
        privateKeyFile: path)
    ])
    try await Bench.run(server: StubServer([]), keys: keys) { bench async throws in
      let statement = statement("p", .promotionalV1("o", nil))
      _ = try bench.client.sign(statement, at: Self.now)
      let second = try SigningKey.generate(.p256)
      try write(second)
      bench.clock.advance(by: .seconds(2))
      let signature = try #require(try bench.client.sign(statement, at: Self.now))
      let outcome = try OfferVerifier.verify(
        [verifierCase(statement, signature)],
        privateKeyPEM: String(decoding: try second.privateKeyPEM(), as: UTF8.self), in: folder)
      #expect(outcome.output == "1 offers verified\n")
    }
  }
}
