import AppStorePayloads
import Cryptography
import Foundation
import TestSupport
import Testing

@Suite("Documents that came where others belong")
struct MisplacedDocumentTests {
  private typealias Document = MisplacedDocument

  private static let jws = "eyJhbGciOiJFUzI1NiJ9.eyJhIjoxfQ.AA"
  /// The beginning of a receipt, with bytes whose base64 has `+` and `/`.
  private static let receipt: [UInt8] =
    [0x30, 0x82, 0x10, 0x00, 0x06, 0x09] + Array(repeating: 0xFB, count: 60) + [0xFF, 0xFF, 0xFF]
  private static let propertyList = """
    {
    \t"signature" = "AqZ3";
    \t"purchase-info" = "ewoJ";
    \t"environment" = "Sandbox";
    \t"pod" = "100";
    \t"signing-status" = "0";
    }
    """

  private static func base64(_ bytes: some Sequence<UInt8>) -> String {
    String(decoding: Base64Form.standard.encode(Array(bytes)), as: UTF8.self)
  }

  private static var receiptText: String { base64(receipt) }

  @Test(
    "Each is found by its form",
    arguments: [
      (jws, .signedPayload, []), ("\(jws)\n", .signedPayload, [.blanks]),
      (jws.replacing(".", with: " ."), .signedPayload, [.blanks]),
      ("\(jws)==", .signedPayload, [.standardBase64]), ("\"\(jws)\"", .signedPayload, [.quotes]),
      ("'\(jws)'", .signedPayload, [.quotes]), (base64(jws.utf8), .signedPayload, [.base64]),
      (receiptText, .receipt, [.base64]), (" \(receiptText)\r\n", .receipt, [.base64]),
      (base64(receiptText.utf8), .receipt, [.base64, .base64]),
      ("\"\(receiptText.replacing("/", with: "\\/"))\"", .receipt, [.quotes, .base64]),
      (receiptText.replacing("+", with: " "), .receipt, [.lostPlus]),
      (
        receiptText.replacing("+", with: "-").replacing("/", with: "_"), .receipt, [.base64URL]
      ),
      (#"{"signedPayload":"e30.e30.AA"}"#, .notificationBody, []),
      (base64(#"{"signedPayload":"e30.e30.AA"}"#.utf8), .notificationBody, [.base64]),
      (#""{\"signedPayload\":\"e30.e30.AA\"}""#, .notificationBody, [.quotes]),
      (#"{"notification_type":"INITIAL_BUY"}"#, .versionOneNotification, []),
      (#"{"unified_receipt":{}}"#, .versionOneNotification, []),
      (#"{"status":0,"receipt":{}}"#, .archivedResponse, []),
      (#"{"status":21006,"latest_expired_receipt_info":{}}"#, .archivedResponse, []),
      (#"{"receipt-data":"MIIT","password":"p"}"#, .receiptRequest, []),
      (propertyList, .transactionReceipt, []),
      (base64(propertyList.utf8), .transactionReceipt, [.base64]),
      (
        #"{"Store":"AppleAppStore","TransactionID":"1000","Payload":"MIIT"}"#, .unityReceipt, []
      ),
      (#"{"transactionId":"2000","bundleId":"b"}"#, .unsignedPayload, []),
      (#"{"notificationType":"TEST"}"#, .unsignedPayload, []),
      (#"{"receiptType":"Production","bundleId":"b"}"#, .unsignedPayload, []),
      (#"{"signedTransactions":[],"hasMore":false}"#, .serverAnswer, []),
      (#"{"environment":"Sandbox","bundleId":"b","data":[]}"#, .serverAnswer, []),
      ("[\"\(jws)\"]", .list, []), ("2000000123456789", .transactionID, []),
    ] as [(String, MisplacedDocument.Kind, [MisplacedDocument.Wrapping])])
  func found(text: String, kind: MisplacedDocument.Kind, wrappings: [MisplacedDocument.Wrapping]) {
    #expect(Document(Array(text.utf8)) == Document(kind, wrappings))
  }

  @Test func `DER is a receipt, also in the form of Xcode`() {
    #expect(Document(Self.receipt) == Document(.receipt))
    #expect(Document([0x30, 0x80, 0x06, 0x09]) == Document(.receipt))
  }

  @Test(
    "All else is unknown",
    arguments: [
      "", " ", "x", "a.b.c", "{", "{}", "null", "\"", "\"\"", "''", "{\"a\":1}", "0x10",
      "{\"signedPayload\":1,\"signedPayload\":2}", "Hello, world", "2000.5", "-1",
      String(repeating: "7", count: 33), String(repeating: "\"", count: 20),
      String(repeating: "[", count: 10_000), "héé", "{\"data\":[]}",
    ])
  func unknown(text: String) {
    #expect(Document(Array(text.utf8)) == nil)
  }

  @Test func `wrappings are taken off up to a bound`() {
    var text = Self.jws
    for count in 1...3 {
      text = Self.base64(text.utf8)
      let found = Document(Array(text.utf8))
      #expect(found == Document(.signedPayload, Array(repeating: .base64, count: count)))
    }
    #expect(Document(Array(Self.base64(text.utf8).utf8)) == nil)
  }

  @Test func `what is right is told nowhere, and all else says where it belongs`() {
    let right: [(Document, Document.Door)] = [
      (Document(.signedPayload), .signedPayload), (Document(.receipt), .receipt),
      (Document(.receipt, [.base64]), .receipt),
      (Document(.notificationBody), .notificationBody),
      (Document(.archivedResponse), .archivedResponse),
      (Document(.versionOneNotification), .archivedResponse),
    ]
    let forms: [[Document.Wrapping]] = [[]] + Document.Wrapping.allCases.map { [$0] }
    for kind in Document.Kind.allCases {
      for door in Document.Door.allCases {
        for wrappings in forms {
          let document = Document(kind, wrappings)
          let detail = document.detail(at: door)
          let isRight = right.contains { $0.0 == document && $0.1 == door }
          #expect((detail == nil) == isRight, "\(document) \(door)")
          #expect(detail?.hasPrefix("this is ") != false)
        }
      }
    }
  }

  @Test(
    "The texts name what it is, and what to do",
    arguments: [
      (
        receiptText, .signedPayload,
        "this is an app receipt (PKCS #7): submit it with SubmitReceipt (entitlectl receipt submit)"
      ),
      (
        base64(receiptText.utf8), .receipt,
        "this is an app receipt (PKCS #7) in base64 twice: decode it once"
      ),
      (
        "\"\(receiptText)\"", .receipt, "this is an app receipt (PKCS #7) in quotes: leave them out"
      ),
      (
        receiptText.replacing("+", with: " "), .receipt,
        "this is an app receipt (PKCS #7) in base64 whose + became blanks: in form data, + is written %2B"
      ),
      (
        base64(propertyList.utf8), .receipt,
        "this is a transaction receipt in the style of iOS 6 in base64: it is not accepted; submit "
          + "the app receipt, or the signed transactions"
      ),
      (
        jws, .notificationBody,
        "this is a signed payload (JWS): the body is JSON, with a notification as its signedPayload"
      ),
    ] as [(String, MisplacedDocument.Door, String)])
  func texts(text: String, door: MisplacedDocument.Door, expected: String) {
    #expect(Document(Array(text.utf8))?.detail(at: door) == expected)
  }

  @Test func `random bytes of all forms are looked at without harm`() {
    var random = SeededRandom(for: "misplaced documents")
    let alphabet = Array("{}[]\"':,.eyJMI0123+/=-_ \n\\\u{0}".utf8) + [0x30, 0x82, 0xFF]
    for _ in Rounds(20_000, of: "random documents") {
      let bytes = (0..<Int.random(in: 0...40, using: &random)).map { _ in
        alphabet.randomElement(using: &random) ?? 0
      }
      guard let found = Document(bytes) else { continue }
      for door in Document.Door.allCases { _ = found.detail(at: door) }
    }
  }
}
