import NIOCore
import Testing

@testable import Wire

@Suite("Services and their methods")
struct MessageServiceTests {
  @Test("Methods have the names and messages of Protos, and none is missing")
  func methods() throws {
    let methods = [
      signature(WireMethods.getCustomerState), signature(WireMethods.batchGetCustomerState),
      signature(WireMethods.checkEntitlement), signature(WireMethods.listCustomers),
      signature(WireMethods.explainCustomerState),
      signature(WireMethods.submitSignedTransactions), signature(WireMethods.submitNotification),
      signature(WireMethods.submitReceipt), signature(WireMethods.importArchivedResponse),
      signature(WireMethods.addGrant), signature(WireMethods.withdrawGrant),
      signature(WireMethods.listGrants), signature(WireMethods.getCatalog),
      signature(WireMethods.reloadCatalog), signature(WireMethods.listChanges),
      signature(WireMethods.getStatistics), signature(WireMethods.getCustomerHistory),
      signature(WireMethods.exportCustomer, isStream: true),
      signature(WireMethods.deleteCustomer), signature(WireMethods.listUnlinkedChains),
      signature(WireMethods.resolveAccount), signature(WireMethods.linkAccount),
      signature(WireMethods.unlinkAccount), signature(WireMethods.transferPurchase),
      signature(WireMethods.mergeAccounts), signature(WireMethods.listLinks),
      signature(WireMethods.getLinkHistory),
      signature(WireMethods.watchCustomerStates, isStream: true),
      signature(WireMethods.checkHealth), signature(WireMethods.watchHealth, isStream: true),
    ]
    #expect(try Set(methods) == MessageProtos().methods)
  }

  @Test("A batch joined from encoded answers equals the encoded batch")
  func joining() throws {
    let results: [GetCustomerStateResponse] = [
      .state(.full), .notModified(revision: 3), .state(.bare), .state(.full),
    ]
    for count in 0...results.count {
      let some = Array(results.prefix(count))
      let joined = BatchGetCustomerStateResponse.encoded(joining: try some.map { try $0.encoded() })
      #expect(try joined == BatchGetCustomerStateResponse(results: some).encoded())
    }
  }

  private func signature<Request: MappedMessage, Response: MappedMessage>(
    _ method: WireMethod<Request, Response>, isStream: Bool = false
  ) -> String {
    "\(method.service)/\(method.name)(\(Request.shape.name)) -> "
      + (isStream ? "stream " : "") + Response.shape.name
  }
}
