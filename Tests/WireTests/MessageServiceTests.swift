import EntitlementDomain
import Framing
import NIOCore
import TestSupport
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
      signature(WireMethods.getStatistics), signature(WireMethods.getServer),
      signature(WireMethods.getCustomerHistory),
      signature(WireMethods.exportCustomer, isStream: true),
      signature(WireMethods.deleteCustomer), signature(WireMethods.listUnlinkedChains),
      signature(WireMethods.resolveAccount), signature(WireMethods.linkAccount),
      signature(WireMethods.unlinkAccount), signature(WireMethods.transferPurchase),
      signature(WireMethods.mergeAccounts), signature(WireMethods.listLinks),
      signature(WireMethods.bindAccountToken), signature(WireMethods.listAccountTokens),
      signature(WireMethods.getLinkHistory),
      signature(WireMethods.watchCustomerStates, isStream: true),
      signature(WireMethods.listAuditEntries), signature(WireMethods.listAuditSeals),
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
      let joined = BatchGetCustomerStateResponse.encoded(
        joining: try some.map { StampedMessage(try $0.encoded()) })
      #expect(try joined == BatchGetCustomerStateResponse(results: some).encoded())
    }
  }

  @Test("A stamped answer equals the encoded answer of another moment, for random states")
  func stamping() throws {
    var generator = SeededRandom(for: "stamped answers")
    // The first and last milliseconds whose varint has six bytes, and the ones beside them.
    let edges: [Int64] = [
      1 << 35, 1 << 42 - 1, 1 << 35 - 1, 1 << 42, 0, -1, .min, .max, 1_790_000_000_000,
    ]
    var stamped = 0
    for _ in 0..<500 {
      var state = CustomerState.random(using: &generator)
      state.evaluatedAt = Milliseconds(edges.randomElement(using: &generator)!)
      let moment = edges.randomElement(using: &generator)!
      let encoded = try GetCustomerStateResponse.state(state).encoded()
      let offset = GetCustomerStateResponse.evaluationOffset(in: encoded)
      let range: Range<Int64> = 1 << 35..<1 << 42
      #expect((offset != nil) == range.contains(state.evaluatedAt.rawValue))
      guard let offset else { continue }
      let stamp = StampedMessage.Stamp(at: offset, moment)
      #expect((stamp != nil) == range.contains(moment))
      guard let stamp else { continue }
      let message = StampedMessage(encoded, stamp: stamp)
      state.evaluatedAt = Milliseconds(moment)
      let expected = try GetCustomerStateResponse.state(state).encoded()
      #expect(message.stamped() == expected, "seed \(generator.seed)")
      let batch = BatchGetCustomerStateResponse.encoded(
        joining: [message, StampedMessage(encoded), message])
      #expect(AnswerContent.results(of: batch) == [expected, encoded, expected])
      stamped += 1
    }
    #expect(stamped > 10)
    #expect(
      GetCustomerStateResponse.evaluationOffset(
        in: try GetCustomerStateResponse.notModified(revision: 7).encoded()) == nil)
    #expect(GetCustomerStateResponse.evaluationOffset(in: ByteBuffer(bytes: [0x0a, 5, 1])) == nil)
  }

  private func signature<Request: MappedMessage, Response: MappedMessage>(
    _ method: WireMethod<Request, Response>, isStream: Bool = false
  ) -> String {
    "\(method.service)/\(method.name)(\(Request.shape.name)) -> "
      + (isStream ? "stream " : "") + Response.shape.name
  }
}
