import EntitlementDomain
import Testing

@testable import Wire

extension MessageGoldenTests {
  @Test("Messages about imports have the bytes that protoc gives them, and are read from them")
  func imports() throws {
    try expect(
      ImportAccountsRequest.full,
      """
      CgQ0ZjFkEhJjb20uZXhhbXBsZS5zY3JpYmUaQggCEgRhbm5hGhAyMDAwMDAwMDAwMDAwMDAxIiQ3ZTNmYjIwYi00Y2Ri
      LTQ3Y2MtOTM2ZC05OWQ2NWY2MDgxMzgoAhocCAMSBGJlcnQaEDIwMDAwMDAwMDAwMDAwMDIwASABKgNhZGEyCHRoZSBt
      b3Zl
      """)
    try expect(
      ImportAccountsResponse(results: [
        ImportRowResult(row: 2, state: .failed, failure: .conflict, detail: "émis", isKnown: true),
        ImportRowResult(row: 3, isKnown: false),
      ]), "Cg8IAhADGAMiBcOpbWlzKAEKAggD")
    try expect(
      GetImportResponse(accountImport: .full),
      "CjsKBDRmMWQSEmNvbS5leGFtcGxlLnNjcmliZRoEb3R0byCA0JX/vDEooY0GMgYIAhifjQYyBggDEAUYAQ==")
    try expect(
      ListImportsRequest(bundleID: "com.example.scribe", pageSize: 1_000, pageToken: "41"),
      "ChJjb20uZXhhbXBsZS5zY3JpYmUQ6AcaAjQx")
    try expect(
      ListImportRowsRequest(
        importID: "4f1d", state: .waiting, pageSize: 1_000, pageToken: "41",
        bundleID: "com.example.scribe"), "CgQ0ZjFkEAEY6AciAjQxKhJjb20uZXhhbXBsZS5zY3JpYmU=")
    try expect(
      ListImportRowsResponse(rows: [.full], nextPageToken: "8"),
      """
      ClsIAhIEYW5uYRoQMjAwMDAwMDAwMDAwMDAwMSIkN2UzZmIyMGItNGNkYi00N2NjLTkzNmQtOTlkNjVmNjA4MTM4KAIw
      AzgEQgXDqW1pc0iA0JX/vDFQ4KSZ/7wxEgE4
      """)
    try expect(
      ChangeImportRequest(
        importID: "4f1d", action: .delete, onBehalfOf: "ada", reason: "done",
        bundleID: "com.example.scribe"), "CgQ0ZjFkEAMaA2FkYSIEZG9uZSoSY29tLmV4YW1wbGUuc2NyaWJl")
    try expect(ChangeImportResponse(changedRows: 2_000, isComplete: true), "CNAPEAE=")
  }
}
