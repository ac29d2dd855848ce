import EntitlementDomain
import NIOCore
import Testing

@testable import Framing
@testable import Wire

extension MessageLimitTests {
  @Test("Rows of an import have limits, and the largest request and page fit a frame")
  func importRows() throws {
    func text(_ count: Int) -> String { String(repeating: "t", count: count) }
    func request(_ count: Int, account: Int = 256, id: Int = 64) -> ImportAccountsRequest {
      ImportAccountsRequest(
        importID: text(id), bundleID: BundleID(text(256)),
        rows: (0..<count).map {
          ImportedAccount(
            row: .max - Int64($0), accountID: AccountID(text(account)),
            transactionID: TransactionID(text(256)), appAccountToken: AppAccountToken(text(256)),
            environment: .sandbox, asksSandboxToo: true)
        },
        isDryRun: true, onBehalfOf: text(256), reason: text(1_024))
    }
    let largest = try request(500).encoded()
    #expect(largest.readableBytes < RPCLimits.maximumFrameData)
    #expect(try ImportAccountsRequest.decode(from: largest) == request(500))
    for wrong in [request(501), request(1, account: 257), request(1, id: 65)] {
      #expect(throws: MessageError.self) {
        try ImportAccountsRequest.decode(from: wrong.encoded())
      }
    }
    var row = ImportRowEntry.full
    row.accountID = AccountID(text(256))
    row.transactionID = TransactionID(text(256))
    row.detail = text(256)
    let page = ListImportRowsResponse(
      rows: [ImportRowEntry](repeating: row, count: ListImportRowsRequest.largestPageSize),
      nextPageToken: "9")
    #expect(try page.encoded().readableBytes < RPCLimits.maximumFrameData)
  }
}
