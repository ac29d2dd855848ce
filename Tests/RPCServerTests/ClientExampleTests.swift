import EntitlementDomain
import Foundation
import RPCServer
import Testing
import Wire

// As a caller would: with nothing but the library.
import RPCClient

// The example of deploy/docs/client.md.
func mayUse(_ entitlement: String, account: String) async throws -> Bool {
  let client = EntitlementClient(try ServerAddress(parsing: "127.0.0.1:7100"))
  let answer = try await client.checkEntitlement(
    CheckEntitlementRequest(
      customer: .account(AccountID(account)),
      scope: AppScope(bundleID: "com.example.scribe", environment: .production),
      entitlementID: EntitlementID(entitlement)))
  await client.close()
  return answer.isGranted
}

@Suite("The example of the client's documentation")
struct ClientExampleTests {
  @Test("It is the one that is compiled here")
  func compiled() throws {
    let folder = URL(filePath: #filePath).deletingLastPathComponent()
    let documentation = try String(
      contentsOf: folder.appending(path: "../../deploy/docs/client.md"), encoding: .utf8)
    let example = try #require(
      documentation.components(separatedBy: "```swift\nimport RPCClient\n\n").last?
        .components(separatedBy: "\n```").first)
    #expect(example.hasPrefix("func mayUse("))
    #expect(try String(contentsOf: URL(filePath: #filePath), encoding: .utf8).contains(example))
  }
}
