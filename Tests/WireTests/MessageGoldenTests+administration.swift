import EntitlementDomain
import NIOCore
import Testing

@testable import Wire

extension MessageGoldenTests {
  @Test("Explanations have the bytes that protoc gives them, and are read from them")
  func explanations() throws {
    try expect(
      ExplainCustomerStateRequest(
        customer: .account("émile"), scope: MessageSample.scope, at: 1_700_000_000_123,
        catalogYAML: "apps: []\n"),
      "CggKBsOpbWlsZRISY29tLmV4YW1wbGUuc2NyaWJlGAIg+9CV/7wxKglhcHBzOiBbXQo=")
    var explanation = Explanation.full
    explanation.state = .bare
    try expect(
      ExplainCustomerStateResponse(explanation: explanation),
      """
      CgcKAWEQATABEtcBCgNwcm8QARrNAQobCBMSF1RoZSBncsOiY2UgcGVyaW9kIHJ1bnMuEkoIARIQMjAwMDAwMDAwMD
      AwMDAwMhoWY29tLmV4YW1wbGUuc2NyaWJlLnBybyCA0JX/vDEoATITCBMSD0l0IGlzIGluIGdyYWNlLhImCAUSDXBh
      aWRfYmVmb3JlXzIyEwglEg9Ob3RoaW5nIHRvIHNheS4aGAiA4KfmyzESDwgUEgtHcmFjZSBlbmRzLhoWEhQIAxIQQS
      ByZW5ld2FsIGNvbWVzLiDeTSiAoPHCsTQSCgoEdGVhbRoCCgAa3AEKCDIxNDAwMDAxEAIazQEKGwgTEhdUaGUgZ3LD
      omNlIHBlcmlvZCBydW5zLhJKCAESEDIwMDAwMDAwMDAwMDAwMDIaFmNvbS5leGFtcGxlLnNjcmliZS5wcm8ggNCV/7
      wxKAEyEwgTEg9JdCBpcyBpbiBncmFjZS4SJggFEg1wYWlkX2JlZm9yZV8yMhMIJRIPTm90aGluZyB0byBzYXkuGhgI
      gOCn5ssxEg8IFBILR3JhY2UgZW5kcy4aFhIUCAMSEEEgcmVuZXdhbCBjb21lcy4g3k0ogKDxwrE0Ig8IARCcShgDIA
      QogO4FMAY=
      """)
  }

  @Test("Messages about grants have the bytes that protoc gives them, and are read from them")
  func grants() throws {
    try expect(
      AddGrantRequest(
        grantID: "7c9e6679-7425-40de-944b-e07fc1f90ae7", scope: MessageSample.scope,
        accountID: "émile", entitlementID: "pro", starts: 1_700_000_000_000,
        expires: 1_800_000_000_000, reason: "an outage", onBehalfOf: "support"),
      """
      CiQ3YzllNjY3OS03NDI1LTQwZGUtOTQ0Yi1lMDdmYzFmOTBhZTcSEmNvbS5leGFtcGxlLnNjcmliZRgCIgbDqW1pbG
      UqA3BybzCA0JX/vDE4gKDxwrE0QglhbiBvdXRhZ2VKB3N1cHBvcnQ=
      """)
    try expect(
      WithdrawGrantRequest(
        grantID: "7c9e6679-7425-40de-944b-e07fc1f90ae7", scope: MessageSample.scope,
        reason: "a mistake", onBehalfOf: "support"),
      """
      CiQ3YzllNjY3OS03NDI1LTQwZGUtOTQ0Yi1lMDdmYzFmOTBhZTcSEmNvbS5leGFtcGxlLnNjcmliZRgCIglhIG1pc3
      Rha2UqB3N1cHBvcnQ=
      """)
    try expect(
      GrantResponse(grant: .full, isChanged: true, revision: 12),
      """
      CpsBCiQ3YzllNjY3OS03NDI1LTQwZGUtOTQ0Yi1lMDdmYzFmOTBhZTcSEmNvbS5leGFtcGxlLnNjcmliZRgCIgbDqW1p
      bGUqA3BybzCA0JX/vDE4gKDxwrE0QglhbiBvdXRhZ2VKB3N1cHBvcnRQ/8+V/7wxWiIIgJjFn+IxEgdiaWxsaW5nGglh
      IG1pc3Rha2UiBWdyYWNlYgNhZGEQARgM
      """)
    try expect(
      ListGrantsRequest(scope: MessageSample.scope, accountID: "émile"),
      "ChJjb20uZXhhbXBsZS5zY3JpYmUQAhoGw6ltaWxl")
    // The list contains the grant of GrantResponse, whose other fields are its last four bytes.
    let grants = try GrantResponse(grant: .full, isChanged: true, revision: 12).encoded()
    #expect(
      try ListGrantsResponse(grants: [.full]).encoded()
        == grants.getSlice(at: grants.readerIndex, length: grants.readableBytes - 4))
  }

  @Test("Messages about the catalog have the bytes that protoc gives them, and are read from them")
  func catalog() throws {
    try expect(GetCatalogRequest(), "")
    try expect(ReloadCatalogRequest(isDryRun: true), "CAE=")
    try expect(
      CatalogResponse.full,
      """
      Cgg5Zjg2ZDA4MRCA0JX/vDEYASDQDygDMAQ6BxABGAEqAW1CagiB0JX/vDEaCDYwMzAzYWUyIjUIARAMGAUiFHByb2
      R1Y3RzWzJdLmR1cmF0aW9uKhfigJwxTeKAnSBpcyBub3QgYWxsb3dlZCIHEAEYASoBbSoXdGhlIGZpbGUgY2Fubm90
      IGJlIHJlYWQ=
      """)
  }

  @Test("The feed and the counters have the bytes that protoc gives them, and are read from them")
  func feed() throws {
    try expect(ListChangesRequest(afterSequence: 41, pageSize: 1_000), "CCkQ6Ac=")
    try expect(
      ListChangesResponse(changes: MessageSample.changes),
      """
      CqQBCCoSEmNvbS5leGFtcGxlLnNjcmliZRgCIgbDqW1pbGUwgNCV/7wxOAFAAUgBUAFaaAgIEiQ3YzllNjY3OS03NDI1
      LTQwZGUtOTQ0Yi1lMDdmYzFmOTBhZTcaEDIwMDAwMDAwMDAwMDAwMDEiEDIwMDAwMDAwMDAwMDAwMDIogKzik70xMAI6
      EUFDVElWRSBpcyBFWFBJUkVEWgUIARIBdWABaAEKGwgrEgFhGAEqEDIwMDAwMDAwMDAwMDAwMDFIAQoQCCwSAWEYATAB
      WgUIARIBdQ==
      """)
    try expect(GetStatisticsRequest(), "")
    try expect(
      GetStatisticsResponse(
        counters: [
          StatisticsCounter(name: "notifications.unknown_type", value: 3),
          StatisticsCounter(name: "connections.open", value: -1),
        ], version: "0.1.0"),
      """
      Ch4KGm5vdGlmaWNhdGlvbnMudW5rbm93bl90eXBlEAMKHQoQY29ubmVjdGlvbnMub3BlbhD///////////8BEgUwLjEu
      MA==
      """)
    try expect(GetServerRequest(), "")
    try expect(
      GetServerResponse(
        version: "0.1.0", nodeName: "node-1", storeKind: .postgresql, catalogDigest: "00ff",
        warnings: ["first", "second"]),
      "CgUwLjEuMBIGbm9kZS0xGAEiBDAwZmYqBWZpcnN0KgZzZWNvbmQ=")
    try expect(
      SubmitNotificationResponse(
        verdict: .ok, notificationUUID: "u", notificationType: "REFUND",
        results: [
          SubmittedItemResult(
            verdict: .ok, kind: .transaction, disposition: .added, originalTransactionID: "1",
            transactionID: "2", link: .transferred)
        ], events: MessageSample.events),
      """
      CAEaAXUiBlJFRlVORDoOCAEYASABKgExMgEyOARKaAgIEiQ3YzllNjY3OS03NDI1LTQwZGUtOTQ0Yi1lMDdmYzFmOT
      BhZTcaEDIwMDAwMDAwMDAwMDAwMDEiEDIwMDAwMDAwMDAwMDAwMDIogKzik70xMAI6EUFDVElWRSBpcyBFWFBJUkVE
      SgUIARIBdQ==
      """)
  }

  func expect<Message: WireMessage & Equatable>(
    _ message: Message, _ base64: String, at location: SourceLocation = #_sourceLocation
  ) throws {
    let golden = try MessageBytes.base64(base64)
    #expect(try Array(message.encoded().readableBytesView) == golden, sourceLocation: location)
    #expect(
      try Message.decode(from: ByteBuffer(bytes: golden)) == message, sourceLocation: location)
  }
}
