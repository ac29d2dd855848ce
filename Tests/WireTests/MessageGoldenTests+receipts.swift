import EntitlementDomain
import NIOCore
import Testing

@testable import Wire

extension MessageGoldenTests {
  @Test("Messages about receipts have the bytes that protoc gives them, and are read from them")
  func receipts() throws {
    try expect(
      SubmitReceiptRequest(
        receipt: [0x30, 0x80, 0x00, 0xff], bundleID: "com.example.scribe",
        accountID: "account-1", deviceIdentifier: [0x00, 0xc0, 0xff], priority: .bulk),
      """
      ChJjb20uZXhhbXBsZS5zY3JpYmUSCWFjY291bnQtMRoEMIAA/yIDAMD/KAI=
      """)
    try expect(
      SubmitReceiptResponse(
        verdict: .wrongDevice, detail: "détail", receipt: .full,
        results: MessageSample.receiptResults,
        customers: [
          SubmittedCustomer(
            subject: .account("account-1"), scope: MessageSample.scope, revision: 12)
        ]),
      """
      CAwSB2TDqXRhaWwaUAoUUHJvZHVjdGlvblZQUFNhbmRib3gSEmNvbS5leGFtcGxlLnNjcmliZRgCIICAurvILioFMi
      4xw6kyAzEuMDiAsN730ytAgNCV/7wxSLsBIggIARgDIAE4AyIOCAEYASAEKgExMgEyOAMiFwgCEhFubyB0cmFuc2Fj
      dGlvbiBpZBgBKiMKCWFjY291bnQtMRoSY29tLmV4YW1wbGUuc2NyaWJlIAIoDA==
      """)
    try expect(
      ImportArchivedResponseRequest(
        bundleID: "com.example.scribe", environment: .sandbox, accountID: "émile",
        response: Array("{}".utf8), asOf: 1_448_000_000_000, onBehalfOf: "anna"),
      "ChJjb20uZXhhbXBsZS5zY3JpYmUSBsOpbWlsZRoCe30iBGFubmEoAjCAoJqckio=")
  }

  @Test("Bulk submissions have the bytes that protoc gives them, and are read from them")
  func bulk() throws {
    try expect(
      SubmitSignedTransactionsRequest(signedPayloads: ["e30.e30.AA"], priority: .bulk),
      "GgwKCmUzMC5lMzAuQUEgAg==")
    try expect(
      SubmitNotificationRequest(
        signedPayload: "e30.e30.AA", accountID: "account-1", priority: .bulk,
        bundleID: "com.example.scribe"),
      "CgplMzAuZTMwLkFBEglhY2NvdW50LTEYAiISY29tLmV4YW1wbGUuc2NyaWJl")
  }
}
