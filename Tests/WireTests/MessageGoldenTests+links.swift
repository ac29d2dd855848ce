import EntitlementDomain
import NIOCore
import Testing

@testable import Wire

extension MessageGoldenTests {
  @Test("Messages about links have the bytes that protoc gives them, and are read from them")
  func links() throws {
    try expect(
      ResolveAccountRequest(
        customer: .originalTransaction("2000000000000001"), scope: MessageSample.scope),
      "ChISEDIwMDAwMDAwMDAwMDAwMDESEmNvbS5leGFtcGxlLnNjcmliZRgC")
    try expect(
      ResolveAccountResponse(subject: .account("émile"), revision: 12),
      "CgbDqW1pbGUYDA==")
    try expect(
      ResolveAccountResponse(subject: .unlinkedChain("2000000000000001"), revision: -1),
      "EhAyMDAwMDAwMDAwMDAwMDAxGP///////////wE=")
    try expect(
      LinkAccountRequest(
        scope: MessageSample.scope, target: .chain("2000000000000001"), accountID: "émile",
        reason: "a lost receipt", onBehalfOf: "support"),
      """
      ChJjb20uZXhhbXBsZS5zY3JpYmUQAhoSChAyMDAwMDAwMDAwMDAwMDAxIgbDqW1pbGUqDmEgbG9zdCByZWNlaXB0Mgdz
      dXBwb3J0
      """)
    try expect(
      UnlinkAccountRequest(
        scope: MessageSample.scope, target: .appTransaction("704000000000000001"),
        reason: "a mistake", onBehalfOf: "support"),
      """
      ChJjb20uZXhhbXBsZS5zY3JpYmUQAhoUEhI3MDQwMDAwMDAwMDAwMDAwMDEiCWEgbWlzdGFrZSoHc3VwcG9ydA==
      """)
    try expect(
      TransferPurchaseRequest(
        scope: MessageSample.scope, target: .chain("2000000000000001"), fromAccountID: "émile",
        toAccountID: "zoé", reason: "a new sign-in", onBehalfOf: "support"),
      """
      ChJjb20uZXhhbXBsZS5zY3JpYmUQAhoSChAyMDAwMDAwMDAwMDAwMDAxIgbDqW1pbGUqBHpvw6kyDWEgbmV3IHNpZ24t
      aW46B3N1cHBvcnQ=
      """)
    try expect(
      MergeAccountsRequest(
        scope: MessageSample.scope, fromAccountID: "émile", intoAccountID: "zoé",
        reason: "one person", onBehalfOf: "support"),
      "ChJjb20uZXhhbXBsZS5zY3JpYmUQAhoGw6ltaWxlIgR6b8OpKgpvbmUgcGVyc29uMgdzdXBwb3J0")
    try expect(
      MessageSample.bindAccountToken,
      """
      ChJjb20uZXhhbXBsZS5zY3JpYmUQAhokYWFhYWFhYWEtMDAwMC00MDAwLTgwMDAtMDAwMDAwMDAwMDAxIgbDqW1pbGUqCG
      EgdGlja2V0MgdzdXBwb3J0
      """)
    try expect(
      MessageSample.listAccountTokens,
      "ChJjb20uZXhhbXBsZS5zY3JpYmUQAhoGw6ltaWxlIOgHKghhZnRlcjrDqQ==")
    try expect(
      MessageSample.accountTokens,
      """
      Ck8KJGFhYWFhYWFhLTAwMDAtNDAwMC04MDAwLTAwMDAwMDAwMDAwMRADGgbDqW1pbGUiB3N1cHBvcnQqCGEgdGlja2V0
      MIDQlf+8MToDYWRhCgUKAXQQAhIHYWZ0ZXI6dA==
      """)
    try expect(
      MessageSample.linkResponse,
      """
      CAESEgoQMjAwMDAwMDAwMDAwMDAwMRIUEhI3MDQwMDAwMDAwMDAwMDAwMDEaIAoGw6ltaWxlGhJjb20uZXhhbXBsZS5z
      Y3JpYmUgAigMGioSEDIwMDAwMDAwMDAwMDAwMDkaEmNvbS5leGFtcGxlLnNjcmliZSACKA0=
      """)
    try expect(
      ListLinksRequest(scope: MessageSample.scope, accountID: "émile"),
      "ChJjb20uZXhhbXBsZS5zY3JpYmUQAhoGw6ltaWxl")
    try expect(
      ListLinksResponse(links: MessageSample.accountLinks),
      "Ch8KEgoQMjAwMDAwMDAwMDAwMDAwMRCA0JX/vDEYBiABCgUKAxIBNw==")
  }

  @Test("Histories of links have the bytes that protoc gives them, and are read from them")
  func linkHistories() throws {
    try expect(
      GetLinkHistoryRequest(
        scope: MessageSample.scope, subject: .target(.chain("2000000000000001"))),
      "ChJjb20uZXhhbXBsZS5zY3JpYmUQAhoQMjAwMDAwMDAwMDAwMDAwMQ==")
    try expect(
      GetLinkHistoryRequest(
        scope: MessageSample.scope, subject: .target(.appTransaction("7"))),
      "ChJjb20uZXhhbXBsZS5zY3JpYmUQAiIBNw==")
    try expect(
      GetLinkHistoryRequest(scope: MessageSample.barest, subject: .account("a")),
      "CgFhEAEqAWE=")
    try expect(
      GetLinkHistoryResponse(events: MessageSample.linkHistory),
      """
      CnQKEgoQMjAwMDAwMDAwMDAwMDAwMRCA0JX/vDEaBsOpbWlsZSIEem/DqTgKQgdzdXBwb3J0Sg1hIG5ldyBzaWduLWlu
      UgNhZGFaCGszSmQ4c1F6YiAwYWY3NjUxOTE2Y2Q0M2RkODQ0OGViMjExYzgwMzE5YwoNCgMSATcQASgBMAE4AwoFCgMK
      ATE=
      """)
  }

  @Test("Records of customers have the bytes that protoc gives them, and are read from them")
  func records() throws {
    try expect(
      GetCustomerHistoryRequest(scope: MessageSample.scope, accountID: "émile"),
      "ChJjb20uZXhhbXBsZS5zY3JpYmUQAhoGw6ltaWxl")
    try expect(
      GetCustomerHistoryResponse(
        accountID: "émile", entries: MessageSample.customerHistory),
      """
      CgbDqW1pbGUSfQiA0JX/vDESdAoSChAyMDAwMDAwMDAwMDAwMDAxEIDQlf+8MRoGw6ltaWxlIgR6b8OpOApCB3N1cHBv
      cnRKDWEgbmV3IHNpZ24taW5SA2FkYVoIazNKZDhzUXpiIDBhZjc2NTE5MTZjZDQzZGQ4NDQ4ZWIyMTFjODAzMTljEgkI
      ARoFEgFhGAESngEimwEKJDdjOWU2Njc5LTc0MjUtNDBkZS05NDRiLWUwN2ZjMWY5MGFlNxISY29tLmV4YW1wbGUuc2Ny
      aWJlGAIiBsOpbWlsZSoDcHJvMIDQlf+8MTiAoPHCsTRCCWFuIG91dGFnZUoHc3VwcG9ydFD/z5X/vDFaIgiAmMWf4jES
      B2JpbGxpbmcaCWEgbWlzdGFrZSIFZ3JhY2ViA2FkYRJXCP///////////wEqSgokN2M5ZTY2NzktNzQyNS00MGRlLTk0
      NGItZTA3ZmMxZjkwYWU3EglESURfUkVORVcaEEJJTExJTkdfUkVDT1ZFUlkg/8+V/7wxEgQIAioAEg8IAyoLCgF1EgRU
      RVNUIAA=
      """)
    try expect(
      ExportCustomerRequest(scope: MessageSample.scope, accountID: "émile"),
      "ChJjb20uZXhhbXBsZS5zY3JpYmUQAhoGw6ltaWxl")
    try expect(
      ExportedPiece(json: Array(#"{"a":""#.utf8) + [0xc3]),
      "Cgd7ImEiOiLD")
    try expect(
      DeleteCustomerRequest(
        scope: MessageSample.scope, accountID: "émile", reason: "asked to be forgotten",
        onBehalfOf: "support"),
      """
      ChJjb20uZXhhbXBsZS5zY3JpYmUQAhoGw6ltaWxlIhVhc2tlZCB0byBiZSBmb3Jnb3R0ZW4qB3N1cHBvcnQ=
      """)
    try expect(
      ListUnlinkedChainsRequest(
        scope: MessageSample.scope, pageSize: 1_000, pageToken: "after:é"),
      "ChJjb20uZXhhbXBsZS5zY3JpYmUQAhjoByIIYWZ0ZXI6w6k=")
    try expect(
      ListUnlinkedChainsResponse(
        chains: MessageSample.unlinkedChains, nextPageToken: "after:2"),
      "ChsKEDIwMDAwMDAwMDAwMDAwMDEQDBiA0JX/vDEKAwoBMhIHYWZ0ZXI6Mg==")
    try expect(
      ListNotificationsRequest.full,
      """
      ChJjb20uZXhhbXBsZS5zY3JpYmUQAhoEVEVTVCCA0JX/vDEo6AcyEDE3MDAwMDAwMDAwMDE6w6k=
      """)
    try expect(
      ListNotificationsResponse.full,
      """
      Co4BCiQ3YzllNjY3OS03NDI1LTQwZGUtOTQ0Yi1lMDdmYzFmOTBhZTcSGURJRF9DSEFOR0VfUkVORVdBTF9TVEFUVVMaE0FV
      VE9fUkVORVdfRElTQUJMRUQiEmNvbS5leGFtcGxlLnNjcmliZSgCMIDQlf+8MTj70JX/vDFCEDIwMDAwMDAwMDAwMDAwMDFI
      AQoJCgF1EgRURVNUEg8xNzAwMDAwMDAwMTIzOnU=
      """)
  }

  @Test("Watches have the bytes that protoc gives them, and are read from them")
  func watches() throws {
    try expect(
      MessageSample.watchRequest,
      "CgI0MhISY29tLmV4YW1wbGUuc2NyaWJlGAIiBsOpbWlsZSIEem/DqSoCAQcwAQ==")
    try expect(
      WatchCustomerStatesResponse(cursor: "44", change: MessageSample.customerChanges[1]),
      "CgI0NBIlCCwSAWEYASoQMjAwMDAwMDAwMDAwMDAwMToBA0oHCgFhEAEwAQ==")
    var change = MessageSample.customerChanges[0]
    change.state = nil
    try expect(
      WatchCustomerStatesResponse(cursor: "43", change: change),
      """
      CgI0MxKhAQgrEhJjb20uZXhhbXBsZS5zY3JpYmUYAiIGw6ltaWxlMIDQlf+8MToHAQIDBAUGB0JoCAgSJDdjOWU2Njc5
      LTc0MjUtNDBkZS05NDRiLWUwN2ZjMWY5MGFlNxoQMjAwMDAwMDAwMDAwMDAwMSIQMjAwMDAwMDAwMDAwMDAwMiiArOKT
      vTEwAjoRQUNUSVZFIGlzIEVYUElSRURCBQgBEgF1
      """)
  }
}
