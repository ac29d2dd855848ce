import EntitlementDomain

@testable import Wire

extension MessageSample {
  static let migration: [MessageSample] = [
    MessageSample("full", ImportAccountsRequest.full),
    MessageSample(
      "bare",
      ImportAccountsRequest(
        importID: "i", bundleID: "a",
        rows: [
          ImportedAccount(row: 1, accountID: "a", transactionID: "1", environment: .production)
        ],
        isDryRun: false)),
    MessageSample(
      "full",
      ImportAccountsResponse(results: [
        ImportRowResult(
          row: 2, state: .failed, failure: .conflict, detail: "émis", isKnown: true),
        ImportRowResult(row: 3, isKnown: false),
      ])),
    MessageSample("bare", ImportAccountsResponse(results: [])),
    MessageSample("full", GetImportRequest(importID: "4f1d", bundleID: "com.example.scribe")),
    MessageSample("full", GetImportResponse(accountImport: .full)),
    MessageSample("bare", GetImportResponse(accountImport: .bare)),
    MessageSample(
      "full",
      ListImportsRequest(bundleID: "com.example.scribe", pageSize: 1_000, pageToken: "41")),
    MessageSample("bare", ListImportsRequest()),
    MessageSample("full", ListImportsResponse(imports: [.full, .bare], nextPageToken: "8")),
    MessageSample("bare", ListImportsResponse(imports: [], nextPageToken: nil)),
    MessageSample(
      "full",
      ListImportRowsRequest(
        importID: "4f1d", state: .waiting, pageSize: 1_000, pageToken: "41",
        bundleID: "com.example.scribe")),
    MessageSample("bare", ListImportRowsRequest(importID: "i", bundleID: "a")),
    MessageSample("full", ListImportRowsResponse(rows: [.full, .bare], nextPageToken: "8")),
    MessageSample("bare", ListImportRowsResponse(rows: [], nextPageToken: nil)),
    MessageSample(
      "full",
      ChangeImportRequest(
        importID: "4f1d", action: .delete, onBehalfOf: "ada", reason: "done",
        bundleID: "com.example.scribe")),
    MessageSample("bare", ChangeImportRequest(importID: "i", action: .cancel, bundleID: "a")),
    MessageSample("full", ChangeImportResponse(changedRows: 2_000, isComplete: true)),
    MessageSample("bare", ChangeImportResponse(changedRows: 0, isComplete: false)),
  ]
}

extension ImportAccountsRequest {
  static let full = ImportAccountsRequest(
    importID: "4f1d", bundleID: "com.example.scribe",
    rows: [
      ImportedAccount(
        row: 2, accountID: "anna", transactionID: "2000000000000001",
        appAccountToken: "7e3fb20b-4cdb-47cc-936d-99d65f608138", environment: .sandbox),
      ImportedAccount(
        row: 3, accountID: "bert", transactionID: "2000000000000002", environment: .production,
        asksSandboxToo: true),
    ],
    isDryRun: true, onBehalfOf: "ada", reason: "the move")
}

extension ImportEntry {
  static let full = ImportEntry(
    importID: "4f1d", bundleID: "com.example.scribe", author: "otto",
    beganAt: 1_700_000_000_000, lastRow: 100_001,
    counts: [
      ImportCount(state: .done, count: 99_999),
      ImportCount(state: .failed, failure: .linkedElsewhere, count: 1),
    ])

  static let bare = ImportEntry(beganAt: 0, lastRow: 0)
}

extension ImportRowEntry {
  static let full = ImportRowEntry(
    row: 2, accountID: "anna", transactionID: "2000000000000001",
    appAccountToken: "7e3fb20b-4cdb-47cc-936d-99d65f608138", environment: .sandbox,
    state: .failed, failure: .unknownTransaction, detail: "émis", changedAt: 1_700_000_000_000,
    dueAt: 1_700_000_060_000)

  static let bare = ImportRowEntry(row: 1, environment: .production, changedAt: 0)
}
