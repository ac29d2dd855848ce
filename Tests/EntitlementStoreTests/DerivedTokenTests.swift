import EntitlementDomain
import EntitlementStore
import Testing

@Suite("Derived tokens (R74)")
struct DerivedTokenTests {
  @Test(
    "R74: the token of an account is the UUID of version 5 of its id, as Python computes it",
    arguments: [
      ("python.org", "7af94e2b-4dd9-50f0-9c9a-8a48519bdef0"),
      ("customer-1", "c63deb72-1b30-5ab0-a955-7afd25b146d2"),
      ("émile", "05958d81-17da-54ad-ab6d-c13851084b8d"),
    ])
  func values(_ account: AccountID, _ token: AppAccountToken) throws {
    var catalog = Sample.catalog(.transfer)
    #expect(catalog.derivedToken(of: account, in: Sample.scope) == nil)
    let namespace = try #require(TokenNamespace("6ba7b811-9dad-11d1-80b4-00c04fd430c8"))
    catalog.apps[Sample.scope.bundleID]?.tokenNamespace = namespace
    #expect(
      catalog.derivedToken(of: account, in: Sample.scope) == ScopedToken(Sample.scope, token))
  }

  @Test(
    "A namespace is a UUID in its usual form, in upper or lower case",
    arguments: [
      "", "6ba7b811", "6ba7b8119dad11d180b400c04fd430c8", "6ba7b811-9dad-11d1-80b4-00c04fd430cg",
      "6ba7b811-9dad-11d1-80b4-00c04fd430c80", "{6ba7b811-9dad-11d1-80b4-00c04fd430c8}",
      "6ba7b81-19dad-11d1-80b4-00c04fd430c8",
    ])
  func malformed(_ text: String) {
    #expect(TokenNamespace(text) == nil)
    #expect(TokenNamespace("6BA7B811-9dad-11d1-80b4-00c04fd430c8") != nil)
  }
}
