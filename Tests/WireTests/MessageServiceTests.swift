import EntitlementDomain
import Framing
import NIOCore
import TestSupport
import Testing

@testable import Wire

@Suite("Services and their methods")
struct MessageServiceTests {
  private struct Method {
    /// `package.Service/Method`.
    let path: String
    let signature: String
    let permission: Permission
  }

  private static let methods = [
    method(WireMethods.getCustomerState), method(WireMethods.batchGetCustomerState),
    method(WireMethods.checkEntitlement), method(WireMethods.listCustomers),
    method(WireMethods.explainCustomerState),
    method(WireMethods.submitSignedTransactions), method(WireMethods.submitNotification),
    method(WireMethods.submitReceipt), method(WireMethods.importArchivedResponse),
    method(WireMethods.addGrant), method(WireMethods.withdrawGrant),
    method(WireMethods.listGrants), method(WireMethods.getCatalog),
    method(WireMethods.reloadCatalog), method(WireMethods.listChanges),
    method(WireMethods.getStatistics), method(WireMethods.getServer),
    method(WireMethods.getCustomerHistory),
    method(WireMethods.exportCustomer, isStream: true),
    method(WireMethods.deleteCustomer), method(WireMethods.listUnlinkedChains),
    method(WireMethods.listNotifications),
    method(WireMethods.resolveAccount), method(WireMethods.linkAccount),
    method(WireMethods.unlinkAccount), method(WireMethods.transferPurchase),
    method(WireMethods.mergeAccounts), method(WireMethods.listLinks),
    method(WireMethods.bindAccountToken), method(WireMethods.listAccountTokens),
    method(WireMethods.getLinkHistory),
    method(WireMethods.watchCustomerStates, isStream: true),
    method(WireMethods.listAuditEntries), method(WireMethods.listAuditSeals),
    method(WireMethods.listJobs), method(WireMethods.retryJob), method(WireMethods.cancelJob),
    method(WireMethods.reconcileNotifications),
    method(WireMethods.getTransaction), method(WireMethods.listTransactions),
    method(WireMethods.getSubscriptionStatuses), method(WireMethods.listRefunds),
    method(WireMethods.lookUpOrder), method(WireMethods.getAppTransaction),
    method(WireMethods.listSentNotifications), method(WireMethods.requestTestNotification),
    method(WireMethods.getTestNotification), method(WireMethods.extendRenewal),
    method(WireMethods.extendAllRenewals), method(WireMethods.getRenewalExtension),
    method(WireMethods.setAppAccountToken), method(WireMethods.finishTransaction),
    method(WireMethods.setConsumptionConsent), method(WireMethods.getConsumptionConsent),
    method(WireMethods.setConsumptionPercentage), method(WireMethods.listConsumptionRequests),
    method(WireMethods.sendConsumption),
    method(WireMethods.getOfferEligibility), method(WireMethods.signPromotionalOffer),
    method(WireMethods.signIntroductoryOfferEligibility),
    method(WireMethods.importAccounts), method(WireMethods.getImport),
    method(WireMethods.listImports), method(WireMethods.listImportRows),
    method(WireMethods.changeImport),
    method(WireMethods.whoAmI), method(WireMethods.getCredentials),
    method(WireMethods.reloadCredentials),
    method(WireMethods.checkHealth), method(WireMethods.watchHealth, isStream: true),
  ]

  @Test("Methods have the names and messages of Protos, and none is missing")
  func methods() throws {
    #expect(try Set(Self.methods.map(\.signature)) == MessageProtos().methods)
  }

  @Test("Every method has one permission: that of Protos, and that of the table in access.md")
  func permissions() throws {
    let protos = try MessageProtos()
    let numbers = try #require(protos.enumerations["Permission"])
    var described = try MessageProtos.describedPermissions()
    for method in Self.methods {
      let isHealth = method.path.hasPrefix("grpc.health.")
      // The generator gives the methods of health checks, which are not ours, their permission.
      let option = try #require(
        isHealth ? "PERMISSION_OPEN" : protos.permissions[method.path], "\(method.path)")
      #expect(numbers[method.permission.rawValue] == option, "\(method.path)")
      let name = try #require(method.path.split(separator: "/").last)
      let word = option.dropFirst("PERMISSION_".count).lowercased()
      #expect(
        described.removeValue(forKey: isHealth ? "Health/\(name)" : String(name)) == word,
        "\(method.path) in access.md")
    }
    #expect(described.isEmpty, "access.md names methods that do not exist")
  }

  @Test("Only health checks are open, and nothing that changes something needs less than a role")
  func openMethods() {
    for method in Self.methods {
      #expect((method.permission == .open) == method.path.hasPrefix("grpc.health."))
    }
    let anyCaller = Self.methods.filter { $0.permission == .identity }.map(\.path)
    #expect(anyCaller == ["entitle.v1.AccessService/WhoAmI"])
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

  private static func method<Request: MappedMessage, Response: MappedMessage>(
    _ method: WireMethod<Request, Response>, isStream: Bool = false
  ) -> Method {
    let path = "\(method.service)/\(method.name)"
    return Method(
      path: path,
      signature: "\(path)(\(Request.shape.name)) -> "
        + (isStream ? "stream " : "") + Response.shape.name, permission: method.permission)
  }
}
