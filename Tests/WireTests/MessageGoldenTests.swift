import EntitlementDomain
import NIOCore
import Testing

@testable import Wire

/// What `protoc --encode` of Google's compiler made of the same messages, written as text. Fails
/// when a field number or a type changes: once landed, they never do.
@Suite("Messages as another encoder writes them")
struct MessageGoldenTests {
  @Test("A full state has the bytes that protoc gives it, and is read from them")
  func state() throws {
    let golden = try MessageBytes.base64(
      """
      CqgHChJjb20uZXhhbXBsZS5zY3JpYmUQAhoGw6ltaWxlICoogIzXlcgxMAI6AgMFQpEBCgNwcm8SSgoQMjAwMDAwMD
      AwMDAwMDAwMhIQMjAwMDAwMDAwMDAwMDAwMRoWY29tLmV4YW1wbGUuc2NyaWJlLnBybyCA0JX/vDEogOCn5ssxEi0g
      gdCV/7wxMiQ3YzllNjY3OS03NDI1LTQwZGUtOTQ0Yi1lMDdmYzFmOTBhZTcSDzoNcGFpZF9iZWZvcmVfMkrYAgoWY2
      9tLmV4YW1wbGUuc2NyaWJlLnBybxIIMjE0MDAwMDEYASKxAggCEAIYAyIWY29tLmV4YW1wbGUuc2NyaWJlLnBybyob
      QXV0by1SZW5ld2FibGUgU3Vic2NyaXB0aW9uMhAyMDAwMDAwMDAwMDAwMDAyOhAyMDAwMDAwMDAwMDAwMDAxQIDQlf
      +8MUiA4JDTxjFQgOCn5ssxWABiIQoYY29tLmV4YW1wbGUuc2NyaWJlLmJhc2ljEIHgkNPGMWgCch4IBBIJY29tZS1i
      YWNrGgpGUkVFX1RSSUFMIgNQMU16DUZBTUlMWV9TSEFSRUSCAQNGUkGKARoIgOSA3MAxEAAaD1JFRlVORF9QUk9SQV
      RFRJIBCwgDEAwYgKik4KwymAGAgLq7yC6gAQOqAQICA7IBCAgCEgRzdGF5ugEJY29tZS1iYWNrugEMY29tZS1iYWNr
      LcOpUsICCggyMTQwMDAwMRKxAggCEAIYAyIWY29tLmV4YW1wbGUuc2NyaWJlLnBybyobQXV0by1SZW5ld2FibGUgU3
      Vic2NyaXB0aW9uMhAyMDAwMDAwMDAwMDAwMDAyOhAyMDAwMDAwMDAwMDAwMDAxQIDQlf+8MUiA4JDTxjFQgOCn5ssx
      WABiIQoYY29tLmV4YW1wbGUuc2NyaWJlLmJhc2ljEIHgkNPGMWgCch4IBBIJY29tZS1iYWNrGgpGUkVFX1RSSUFMIg
      NQMU16DUZBTUlMWV9TSEFSRUSCAQNGUkGKARoIgOSA3MAxEAAaD1JFRlVORF9QUk9SQVRFRJIBCwgDEAwYgKik4Kwy
      mAGAgLq7yC6gAQOqAQICA7IBCAgCEgRzdGF5ugEJY29tZS1iYWNrugEMY29tZS1iYWNrLcOpGAEgAViA4KfmyzFiKQ
      oNcGFpZF9iZWZvcmVfMhABGAQgASoSNzA0MDAwMDAwMDAwMDAwMDAxYhMKDXBhaWRfYmVmb3JlXzMQAxgBGCo=
      """)
    let response = GetCustomerStateResponse.state(.full)
    #expect(try Array(response.encoded().readableBytesView) == golden)
    #expect(try GetCustomerStateResponse.decode(from: ByteBuffer(bytes: golden)) == response)
  }

  @Test("A read request has the bytes that protoc gives it, and is read from them")
  func readRequest() throws {
    let golden = try MessageBytes.base64(
      "CggKBsOpbWlsZRISY29tLmV4YW1wbGUuc2NyaWJlGAIiBAgCEAco+9CV/7wxMCk=")
    let request = GetCustomerStateRequest(
      customer: .account("émile"), scope: MessageSample.scope,
      consistency: .atLeastAsFresh(revision: 7), at: 1_700_000_000_123, ifRevisionDiffers: 41)
    #expect(try Array(request.encoded().readableBytesView) == golden)
    #expect(try GetCustomerStateRequest.decode(from: ByteBuffer(bytes: golden)) == request)
  }

  @Test("A submission has the bytes that protoc gives it, and is read from them")
  func submission() throws {
    let golden = try MessageBytes.base64(
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
}
