import Foundation
import Testing
import Verification

@testable import OperatorCommands

@Suite("The payloads of a file")
struct PayloadSourceTests {
  /// What was found: `name=JWS` for each payload, `name!detail` for each error.
  private func found(_ text: String) -> [String] { found(Array(text.utf8)) }

  private func found(_ bytes: [UInt8]) -> [String] {
    PayloadSource.findings(in: bytes, name: "f").map { finding in
      switch finding.content {
      case .success(.jws(let bytes)): "\(finding.name)=\(String(decoding: bytes, as: UTF8.self))"
      case .success(.receipt): "\(finding.name)=receipt"
      case .success(.archivedResponse): "\(finding.name)=archive"
      case .failure(let refusal): "\(finding.name)!\(refusal.detail)"
      }
    }
  }

  @Test(
    "Payloads are read from each form",
    arguments: [
      ("a JWS", "eyJa.b.c", ["f=eyJa.b.c"]),
      ("a JWS a line", "eyJa\n\n eyJb \r\neyJc", ["f#1=eyJa", "f#2=eyJb", "f#3=eyJc"]),
      ("a quoted JWS", "\"eyJa\"", ["f=eyJa"]),
      ("a quoted JWS a line", "\"eyJa\"\n\"eyJb\"\n", ["f#1=eyJa", "f#2=eyJb"]),
      ("a quoted JWS with escapes", #""eyJ\u0061\/""#, ["f=eyJa/"]),
      ("an object", #"{"signedPayload":"eyJa"}"#, ["f=eyJa"]),
      (
        "an object a line", "{\"signedPayload\":\"eyJa\"}\n{\"signedPayload\": \"eyJb\"}\n",
        ["f#1=eyJa", "f#2=eyJb"]
      ),
      (
        "an object a line, between blank lines",
        "\r\n{\"signedPayload\":\"eyJa\"}\r\n\r\n  {\"signedPayload\":\"eyJb\"}  \r\n",
        ["f#1=eyJa", "f#2=eyJb"]
      ),
      (
        "what else an archive keeps with it",
        "{\"at\":1,\"body\":{\"signedPayload\":\"eyJa\"}}\n{\"at\":2,\"body\":{\"signedPayload\":\"eyJb\"}}",
        ["f#1=eyJa", "f#2=eyJb"]
      ),
      (
        "an object over several lines", "{\n  \"signedPayload\":\n    \"eyJa\"\n}\n", ["f=eyJa"]
      ),
      (
        "an array", #"[{"signedPayload":"eyJa"},{"signedPayload":"eyJb"}]"#,
        ["f#1=eyJa", "f#2=eyJb"]
      ),
      (
        "every form a line", "eyJa\n\"eyJb\"\n{\"signedPayload\":\"eyJc\"}",
        ["f#1=eyJa", "f#2=eyJb", "f#3=eyJc"]
      ),
      ("an archived response", #"{"status":0,"receipt":{}}"#, ["f=archive"]),
      ("lines that end with CR", "eyJa\reyJb", ["f#1=eyJa", "f#2=eyJb"]),
      ("an array of JWS", #"["eyJa", "eyJb"]"#, ["f#1=eyJa", "f#2=eyJb"]),
      ("an array over several lines", "[\n  \"eyJa\",\n  \"eyJb\"\n]\n", ["f#1=eyJa", "f#2=eyJb"]),
      ("an array a line", "[\"eyJa\"]\n[\"eyJb\",\"eyJc\"]", ["f#1=eyJa", "f#2=eyJb", "f#3=eyJc"]),
      (
        "an array of arrays and objects", #"[["eyJa"],{"signedPayload":"eyJb","other":["eyJc"]}]"#,
        ["f#1=eyJa", "f#2=eyJb"]
      ),
      (
        "a version 1 notification", #"{"notification_type":"A","unified_receipt":{}}"#,
        ["f=archive"]
      ),
    ])
  func forms(name: String, text: String, expected: [String]) {
    #expect(found(text) == expected)
    #expect(found([0xEF, 0xBB, 0xBF] + Array(text.utf8)) == expected, "with a byte order mark")
  }

  @Test(
    "An error names its line, and never what is in it",
    arguments: [
      ("", ["f!no signed payload in it"]), (" \n\n", ["f!no signed payload in it"]),
      ("{}", ["f!no signed payload in it"]), ("[]", ["f!no signed payload in it"]),
      (
        "{\"signedPayload\":\"eySECRET",
        ["f!no signed payload in it: it begins like JSON, but is not valid"]
      ),
      (
        "{\n\"signedPayload\":\n\"eySECRET\"\n",
        ["f!no signed payload in it: it begins like JSON, but is not valid"]
      ),
      (
        "{\"signedPayload\":\"eyJa\"}\n\n{\"signedPayload\":\"eySECRET\n{\"signedPayload\":\"eyJb\"}",
        [
          "f#1=eyJa", "f#2!line 3: no signed payload in it: it begins like JSON, but is not valid",
          "f#3=eyJb",
        ]
      ),
      (
        "{\"signedPayload\":\"eyJa\"}\r\n{\"other\":\"eySECRET\"}\r\n",
        ["f#1=eyJa", "f#2!line 2: no signed payload in it"]
      ),
      (
        "eyJa\n\"eySECRET\n\"\"",
        [
          "f#1=eyJa",
          "f#2!line 2: no signed payload in it: it begins like a JSON string, but is not valid",
          "f#3!line 3: no signed payload in it",
        ]
      ),
      (
        "\"eySECRET",
        ["f!no signed payload in it: it begins like a JSON string, but is not valid"]
      ),
      (
        "eyJa\n\"eySECRET\" x",
        [
          "f#1=eyJa",
          "f#2!line 2: no signed payload in it: it begins like a JSON string, but is not valid",
        ]
      ),
      ("eyJ\u{0}", ["f!no signed payload in it: it is not text"]),
      (
        #"{"transactionId":"SECRET","bundleId":"b"}"#,
        [
          "f!no signed payload in it: this is the content of a signed payload without its signature: "
            + "submit the JWS that it was in (jwsRepresentation of StoreKit)"
        ]
      ),
      (
        #"{"Store":"AppleAppStore","TransactionID":"1","Payload":"SECRET"}"#,
        [
          "f!no signed payload in it: this is a receipt of Unity IAP: submit the value of its Payload: "
            + "a receipt with SubmitReceipt, a JWS with SubmitSignedTransactions"
        ]
      ),
      (
        "{\n\t\"signature\" = \"SECRET\";\n}",
        [
          "f!no signed payload in it: this is a transaction receipt in the style of iOS 6: it is not "
            + "accepted; submit the app receipt, or the signed transactions"
        ]
      ),
      (
        "1000000123456789",
        [
          "f!no signed payload in it: this is a transaction id, which proves nothing: submit what the "
            + "App Store signed of it"
        ]
      ),
    ])
  func errors(text: String, expected: [String]) {
    let found = found(text)
    #expect(found == expected)
    #expect(!found.contains { $0.contains("SECRET") })
  }

  @Test("A byte order mark counts at the start of a file only")
  func mark() {
    #expect(found("\u{FEFF}\u{FEFF}eyJa") == ["f=\u{FEFF}eyJa"])
  }

  @Test("A file with an error in one line is submitted in no part")
  func submitted() throws {
    let path = FileManager.default.temporaryDirectory
      .appendingPathComponent("entitle-archive-\(UUID().uuidString)").path
    defer { try? FileManager.default.removeItem(atPath: path) }
    try Data("{\"signedPayload\":\"eyJa\"}\n{\"other\":1}\n".utf8).write(
      to: URL(fileURLWithPath: path))
    let failure = #expect(throws: (any Error).self) { try PayloadSource.payloads(in: path) }
    #expect(failure.map { "\($0)" }?.contains("line 2: no signed payload in it") == true)
    try Data("\u{FEFF}{\"signedPayload\":\"eyJa\"}\n\"eyJb\"\n".utf8).write(
      to: URL(fileURLWithPath: path))
    #expect(
      try PayloadSource.payloads(in: path).map { String(decoding: $0.jws, as: UTF8.self) }
        == ["eyJa", "eyJb"])
  }
}
