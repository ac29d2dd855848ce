import Testing

@testable import EntitlementStore

@Suite("Samples that dictionaries are trained with")
struct DictionarySamplesTests {
  private static let payload = """
    {"transactionId":"2000000123456789","appAccountToken":"7e3fb204-2aa5-4f8b-9c1d-3b6f0a1e5d77",\
    "productId":"com.example.gold.12345678","webOrderLineItemId":"123456789","price":4990}
    """

  @Test("Identifiers are replaced by others of the same length; all other text stays")
  func identifiers() throws {
    var samples = DictionarySamples()
    for _ in 0..<20 {
      samples.add(DictionaryTrainer.Sample(payload: Array(Self.payload.utf8), header: nil))
    }
    #expect(samples.trained.count == 18)
    // What the dictionaries are compared by is as it is stored.
    #expect(
      samples.compared.map { String(decoding: $0.payload, as: UTF8.self) }
        == [Self.payload, Self.payload])
    let texts = samples.trained.map { String(decoding: $0, as: UTF8.self) }
    #expect(Set(texts).count == 18)
    for text in texts {
      for identifier in ["2000000123456789", "7e3fb204", "3b6f0a1e5d77", "\"123456789\""] {
        #expect(!text.contains(identifier))
      }
      let parts = try #require(
        text.wholeMatch(
          of:
            #/
            \{"transactionId":"[0-9]{16}","appAccountToken":"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}",
            "productId":"com\.example\.gold\.12345678","webOrderLineItemId":"[0-9]{9}","price":4990\}
            /#))
      #expect(parts.0.utf8.count == Self.payload.utf8.count)
    }
  }

  @Test("The same samples give the same; what is cut off is no identifier")
  func edges() {
    for text in [
      "", "7e3fb204-2aa5-4f8b-9c1d-3b6f0a1e5d7", "12345678", "-", "\"a1b2c3d4e5f6a7b8\"",
    ] {
      var bytes = Array(text.utf8)
      var substitute = IdentifierSubstitute()
      substitute.replaceIdentifiers(in: &bytes)
      #expect(String(decoding: bytes, as: UTF8.self) == text)
    }
    var first = Array(Self.payload.utf8)
    var second = first
    var substitute = IdentifierSubstitute()
    substitute.replaceIdentifiers(in: &first)
    substitute = IdentifierSubstitute()
    substitute.replaceIdentifiers(in: &second)
    #expect(first == second)
  }
}
