import EntitlementDomain
import EntitlementService
import EntitlementStore
import Framing
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

  @Test("A large change returns the first targets and customers, accounts before chains")
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
    #expect(response.targets.count == LinkLimits.receiptEntries)
    #expect(response.targets.last == .chain(Self.chain(LinkLimits.receiptEntries - 1)))
    #expect(response.customers.count == LinkLimits.receiptEntries)
    #expect(response.customers.first?.subject == .account("anna"))
    #expect(
      response.customers.last?.subject == .unlinkedChain(Self.chain(LinkLimits.receiptEntries - 2)))
  }

  @Test("A small change returns all targets and customers, in order")
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
    "A list that is too long for a frame keeps as many first or last elements as fit",
    arguments: [TruncatedList.Kept.first, .last])
  func lists(kept: TruncatedList.Kept) throws {
    let count = 20_000
    let links = (0..<count).map { number in
      AccountLink(
        target: .chain(Self.chain(number)), since: 1_790_000_000_000, reason: .named,
        isUnsigned: false)
    }
    var told: [AccountLink] = []
    let encoded = try TruncatedList.encoded(links, keeping: kept) { links in
      told = links
      return ListLinksResponse(links: links)
    }
    #expect(encoded.readableBytes <= RPCLimits.maximumFrameData - 1_024)
    #expect(told.count > 10_000)
    #expect(
      kept == .first ? told == Array(links.prefix(told.count)) : told == links.suffix(told.count))
  }
}
