import Cryptography
import Foundation
import StoreSimulator
import TestSupport
import Testing

@Suite("The key of the App Store Server API")
struct StoreAPIKeyTests {
  @Test func `it is made once, in files that only their owner can read`() throws {
    let folder = try TemporaryFolder()
    let path = folder.file("sim")
    let made = try StoreAPIKey.loadOrCreate(inDirectory: path)
    let loaded = try StoreAPIKey.loadOrCreate(inDirectory: path)
    #expect(made.keyID == loaded.keyID && made.issuerID == loaded.issuerID)
    #expect(made.keyID.wholeMatch(of: /[A-Z0-9]{10}/) != nil)
    #expect(made.issuerID.count == 36)
    let message = Array("message".utf8)
    let signature = try loaded.key.signature(over: message)
    #expect(try made.verifyingKey.isValidSignature(signature, of: message))
    let names = try FileManager.default.contentsOfDirectory(atPath: path).sorted()
    #expect(names == [made.fileName, "api-key"])
    for name in names {
      let attributes = try FileManager.default.attributesOfItem(atPath: "\(path)/\(name)")
      #expect(attributes[.posixPermissions] as? Int == 0o600, "\(name)")
    }
    let pem = try String(contentsOfFile: "\(path)/\(made.fileName)", encoding: .utf8)
    // PKCS #8, as Apple's.
    #expect(pem.hasPrefix("-----BEGIN PRIVATE KEY-----\n"))
  }

  @Test(
    "Files that are not of this program are refused",
    arguments: ["", "one line\n", "issuer\n../../etc\n", "issuer\nABCDEFGHIJ\n"])
  func damaged(content: String) throws {
    let folder = try TemporaryFolder()
    _ = try folder.write(content, to: "api-key")
    _ = try folder.write("no key", to: "AuthKey_ABCDEFGHIJ.p8")
    let path = URL(filePath: folder.file("api-key")).deletingLastPathComponent().path
    #expect(throws: SimulatorError.self) { try StoreAPIKey.loadOrCreate(inDirectory: path) }
  }
}
