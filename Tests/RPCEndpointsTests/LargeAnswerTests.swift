import EntitlementDomain
import EntitlementService
import EntitlementStore
import NIOCore
import Testing
import Wire

@testable import RPCEndpoints

@Suite("Answers about very large accounts fit a frame")
struct LargeAnswerTests {
  private static let scope = AppScope(
    bundleID: BundleID(String(repeating: "b", count: 256)), environment: .production)

  private static func chain(_ number: Int) -> OriginalTransactionID {
    let digits = String(number)
    return OriginalTransactionID(
      String(repeating: "0", count: 256 - digits.utf8.count) + digits)
  }

  @Test("A change of many tells of the first, and of the accounts before the chains")
  func changes() throws {
    let count = 20_000
    let chains = (0..<count).map {
      CustomerRevision(subject: .unlinkedChain(Self.scope, Self.chain($0)), revision: .max)
    }
    let account = CustomerRevision(subject: .account(Self.scope, "anna"), revision: .max)
    let response = LinkResponse(
      LinkReceipt(
        targets: (0..<count).map { .chain(Self.chain($0)) }, customers: chains + [account],
        changed: [], latest: .max, isChanged: true))
    #expect(try response.encoded().readableBytes < RPCLimits.maximumFrameData - 1_024)
    #expect(response.targets.count == LinkLimits.told)
    #expect(response.targets.last == .chain(Self.chain(LinkLimits.told - 1)))
    #expect(response.customers.count == LinkLimits.told)
    #expect(response.customers.first?.subject == .account("anna"))
    #expect(response.customers.last?.subject == .unlinkedChain(Self.chain(LinkLimits.told - 2)))
  }

  @Test("A change of few tells of all, in their order")
  func fewChanges() {
    let customers = [
      CustomerRevision(subject: .unlinkedChain(Self.scope, "1"), revision: 2),
      CustomerRevision(subject: .account(Self.scope, "anna"), revision: 3),
    ]
    let response = LinkResponse(
      LinkReceipt(
        targets: [.chain("1")], customers: customers, changed: [], latest: 3, isChanged: true))
    #expect(response.customers.map(\.revision) == [2, 3])
  }

  @Test(
    "A list that outgrows a frame keeps its beginning or its end, and as much as fits",
    arguments: [FittingMessage.Kept.first, .last])
  func lists(kept: FittingMessage.Kept) throws {
    let count = 20_000
    let links = (0..<count).map { number in
      AccountLink(
        target: .chain(Self.chain(number)), since: 1_790_000_000_000, reason: .named,
        isUnsigned: false)
    }
    var told: [AccountLink] = []
    let encoded = try FittingMessage.encoded(links, keeping: kept) { links in
      told = links
      return ListLinksResponse(links: links)
    }
    #expect(encoded.readableBytes <= RPCLimits.maximumFrameData - 1_024)
    #expect(told.count > 10_000)
    #expect(
      kept == .first ? told == Array(links.prefix(told.count)) : told == links.suffix(told.count))
  }
}
