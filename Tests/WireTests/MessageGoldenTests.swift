import EntitlementDomain
import FoundationEssentials
import NIOCore
import Testing

@testable import Wire

/// What `protoc --encode` of Google's compiler made of the same messages, written as text. Fails
/// when a field number or a type changes: once landed, they never do.
@Suite("Messages as another encoder writes them")
struct MessageGoldenTests {
  @Test("A full state has the bytes that protoc gives it, and is read from them")
  func state() throws {
    let golden = try bytes(
      """
      CqEGChJjb20uZXhhbXBsZS5zY3JpYmUQAhoGw6ltaWxlICoogIzXlcgxMAI6AgMFQpYBCgNwcm8SSgoQMjAwMDAw
      MDAwMDAwMDAwMhIQMjAwMDAwMDAwMDAwMDAwMRoWY29tLmV4YW1wbGUuc2NyaWJlLnBybyCA0JX/vDEogOCn5ssx
      EkMKEDIwMDAwMDAwMDAwMDAwMDISEDIwMDAwMDAwMDAwMDAwMDEaFmNvbS5leGFtcGxlLnNjcmliZS5wcm8ggNCV
      /7wxSrICChZjb20uZXhhbXBsZS5zY3JpYmUucHJvEggyMTQwMDAwMRgBIosCCAIQAhgDIhZjb20uZXhhbXBsZS5z
      Y3JpYmUucHJvKhtBdXRvLVJlbmV3YWJsZSBTdWJzY3JpcHRpb24yEDIwMDAwMDAwMDAwMDAwMDI6EDIwMDAwMDAw
      MDAwMDAwMDFAgNCV/7wxSIDgkNPGMVCA4KfmyzFYAGIhChhjb20uZXhhbXBsZS5zY3JpYmUuYmFzaWMQgeCQ08Yx
      aAJyHggEEgljb21lLWJhY2saCkZSRUVfVFJJQUwiA1AxTXoNRkFNSUxZX1NIQVJFRIIBA0ZSQYoBGgiA5IDcwDEQ
      ABoPUkVGVU5EX1BST1JBVEVEkgELCAMQDBiAqKTgrDKYAYCAurvILqABA6oBAgIDUpwCCggyMTQwMDAwMRKLAggC
      EAIYAyIWY29tLmV4YW1wbGUuc2NyaWJlLnBybyobQXV0by1SZW5ld2FibGUgU3Vic2NyaXB0aW9uMhAyMDAwMDAw
      MDAwMDAwMDAyOhAyMDAwMDAwMDAwMDAwMDAxQIDQlf+8MUiA4JDTxjFQgOCn5ssxWABiIQoYY29tLmV4YW1wbGUu
      c2NyaWJlLmJhc2ljEIHgkNPGMWgCch4IBBIJY29tZS1iYWNrGgpGUkVFX1RSSUFMIgNQMU16DUZBTUlMWV9TSEFS
      RUSCAQNGUkGKARoIgOSA3MAxEAAaD1JFRlVORF9QUk9SQVRFRJIBCwgDEAwYgKik4KwymAGAgLq7yC6gAQOqAQIC
      AxgBIAFYgOCn5ssxGCo=
      """)
    let response = GetCustomerStateResponse.state(.full)
    #expect(try Array(response.encoded().readableBytesView) == golden)
    #expect(try GetCustomerStateResponse.decode(from: ByteBuffer(bytes: golden)) == response)
  }

  @Test("A read request has the bytes that protoc gives it, and is read from them")
  func readRequest() throws {
    let golden = try bytes(
      "CggKBsOpbWlsZRISY29tLmV4YW1wbGUuc2NyaWJlGAIiBAgCEAco+9CV/7wxMCk=")
    let request = GetCustomerStateRequest(
      customer: .account("émile"), scope: MessageSample.scope,
      consistency: .atLeastAsFresh(revision: 7), at: 1_700_000_000_123, ifRevisionDiffers: 41)
    #expect(try Array(request.encoded().readableBytesView) == golden)
    #expect(try GetCustomerStateRequest.decode(from: ByteBuffer(bytes: golden)) == request)
  }

  @Test("A submission has the bytes that protoc gives it, and is read from them")
  func submission() throws {
    let golden = try bytes(
      """
      ChJjb20uZXhhbXBsZS5zY3JpYmUSCWFjY291bnQtMRoMCgplMzAuZTMwLkFBGgwKCmUzMC5lMzEuQUI=
      """)
    let request = SubmitSignedTransactionsRequest(
      signedPayloads: ["e30.e30.AA", "e30.e31.AB"], bundleID: "com.example.scribe",
      accountID: "account-1")
    #expect(try Array(request.encoded().readableBytesView) == golden)
    #expect(
      try SubmitSignedTransactionsRequest.decode(from: ByteBuffer(bytes: golden)) == request)
  }

  private func bytes(_ base64: String) throws -> [UInt8] {
    let data = Data(base64Encoded: base64.filter { !$0.isWhitespace })
    return Array(try #require(data))
  }
}
