import Framing
import Logging
import NIOCore
import Testing

@testable import HTTPFront

@Suite("Rates and clients of the webhook")
struct WebhookBudgetTests {
  private static let start = NIODeadline.uptimeNanoseconds(1_000_000_000_000)

  private func client(_ text: String) throws -> ClientAddress {
    try #require(ClientAddress(text))
  }

  private func post(_ client: ClientAddress?, isKnown: Bool = false, length: Int = 0)
    -> WebhookBudget.Post
  {
    WebhookBudget.Post(client: client, isOfKnownSigner: isKnown, length: length)
  }

  private func budget(_ limits: WebhookLimits) -> WebhookBudget {
    WebhookBudget(limits, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
  }

  @Test("Failures and bytes have rates, over all and of each client, and known signers their own")
  func rates() throws {
    let budget = budget(
      WebhookLimits(
        bytes: .init(inAll: 10_000, ofClient: 1_000), strangers: .init(inAll: 3, ofClient: 2),
        knownSigners: .init(inAll: 10, ofClient: 1)))
    let (start, one, two) = (Self.start, try client("192.0.2.1"), try client("192.0.2.2"))
    for _ in 0..<2 {
      #expect(budget.admits(post(one), now: start))
      budget.failed(post(one), now: start)
    }
    #expect(!budget.admits(post(one), now: start))
    #expect(budget.admits(post(two), now: start))
    #expect(budget.admits(post(one, isKnown: true), now: start))
    #expect(!budget.admits(post(one), now: start + .milliseconds(400)))
    #expect(budget.admits(post(one), now: start + .milliseconds(600)))
    // The third of all.
    budget.failed(post(two), now: start)
    #expect(!budget.admits(post(two), now: start))
    #expect(!budget.admits(post(nil), now: start))
    #expect(budget.admits(post(two, isKnown: true), now: start))
    // Forged by somebody who copied the certificates.
    budget.failed(post(two, isKnown: true), now: start)
    #expect(!budget.admits(post(two, isKnown: true), now: start))
    #expect(budget.admits(post(one, isKnown: true), now: start))

    let later = start + .seconds(10)
    #expect(budget.admits(post(one, length: 900), now: later))
    #expect(budget.admits(post(one, length: 900), now: later))
    #expect(!budget.admits(post(one, length: 900), now: later))
    #expect(budget.admits(post(two, length: 900), now: later))
    #expect(budget.admits(post(one, isKnown: true, length: 900), now: later))
    #expect(budget.admits(post(one, length: 900), now: later + .milliseconds(900)))
  }

  @Test("Clients whose rates are kept are bounded; those that have not used theirs make room")
  func bounded() throws {
    var rates = ClientRates(.init(inAll: 1_000, ofClient: 1), clients: 2)
    let start = Self.start
    let all = try (1...4).map { try client("192.0.2.\($0)") }
    rates.charge(1, to: all[0], now: start)
    rates.charge(1, to: all[1], now: start)
    #expect(!rates.admits(all[0], now: start))
    // The others share one bucket.
    #expect(rates.admits(all[2], now: start))
    rates.charge(1, to: all[2], now: start)
    #expect(!rates.admits(all[3], now: start))
    let later = start + .seconds(2)
    rates.charge(1, to: all[3], now: later)
    #expect(!rates.admits(all[3], now: later))
    #expect(rates.admits(all[2], now: later))
    #expect(rates.admits(all[0], now: later))
  }

  @Test(
    "Addresses are read with ports and in every form",
    arguments: [
      ("192.0.2.1", [192, 0, 2, 1]), ("192.0.2.1:443", [192, 0, 2, 1]),
      (" 192.0.2.1\t", [192, 0, 2, 1]), ("::ffff:192.0.2.1", [192, 0, 2, 1]),
      ("2001:db8::1", [0x20, 0x01, 0x0D, 0xB8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]),
      ("[2001:db8::1]:443", [0x20, 0x01, 0x0D, 0xB8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]),
      ("", nil), ("unknown", nil), ("192.0.2", nil), ("192.0.2.256", nil), ("_hidden", nil),
      ("192.0.2.1\0", nil), ("2001:db8::1::", nil), ("[2001:db8::1", nil),
    ] as [(String, [UInt8]?)])
  func addresses(text: String, bytes: [UInt8]?) throws {
    #expect(ClientAddress(text)?.bytes == bytes)
    // Nobody has less than half of an IPv6 address.
    #expect(ClientAddress(text)?.network == bytes.map { $0.count == 4 ? $0 : Array($0.prefix(8)) })
  }

  @Test("A block contains the addresses with its first bits")
  func blocks() throws {
    let cases: [(String, inside: [String], outside: [String])] = [
      ("192.0.2.1", ["192.0.2.1", "::ffff:192.0.2.1"], ["192.0.2.2", "2001:db8::1"]),
      ("10.0.0.0/8", ["10.0.0.0", "10.255.255.255"], ["11.0.0.0", "9.255.255.255"]),
      ("192.0.2.128/25", ["192.0.2.128", "192.0.2.255"], ["192.0.2.127"]),
      ("0.0.0.0/0", ["192.0.2.1"], ["2001:db8::1"]),
      ("2001:db8::/33", ["2001:db8:7fff::1"], ["2001:db8:8000::1", "192.0.2.1"]),
      ("::1", ["::1"], ["::2"]),
    ]
    for (text, inside, outside) in cases {
      let block = try #require(AddressBlock(text), "\(text)")
      #expect(block.description == text)
      for address in inside { #expect(block.contains(try client(address)), "\(text) \(address)") }
      for address in outside { #expect(!block.contains(try client(address)), "\(text) \(address)") }
    }
    for text in [
      "", "/8", "10.0.0.0/", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/+8", "10.0.0.1/8", "::/129",
      "a.example", "10.0.0.0/8/8", "192.0.2.1:443", "[::1]",
    ] {
      #expect(AddressBlock(text) == nil, "\(text)")
    }
  }

  @Test("The client is the last address of the way that is no trusted proxy's")
  func proxies() throws {
    let proxies = TrustedProxies(
      blocks: try ["10.0.0.0/8", "2001:db8::/32"].map { try #require(AddressBlock($0)) })
    let cases: [(peer: String, fields: [String], client: String)] = [
      ("192.0.2.1", ["198.51.100.7"], "192.0.2.1"),
      ("10.0.0.1", [], "10.0.0.1"),
      ("10.0.0.1", ["198.51.100.7"], "198.51.100.7"),
      ("10.0.0.1", ["192.0.2.9, 198.51.100.7, 10.1.1.1"], "198.51.100.7"),
      ("2001:db8::1", ["192.0.2.9", "198.51.100.7,2001:db8::2"], "198.51.100.7"),
      ("10.0.0.1", ["10.0.0.2, 10.0.0.3"], "10.0.0.2"),
      // Nobody knows what is before what cannot be read.
      ("10.0.0.1", ["198.51.100.7, unknown, 10.1.1.1"], "10.1.1.1"),
      ("10.0.0.1", ["198.51.100.7,"], "10.0.0.1"),
      ("10.0.0.1", ["198.51.100.7:5555"], "198.51.100.7"),
    ]
    for (peer, fields, expected) in cases {
      let found = proxies.client(peer: try client(peer), forwarded: fields)
      #expect(try found == client(expected), "\(peer) \(fields)")
    }
    #expect(proxies.client(peer: nil, forwarded: ["198.51.100.7"]) == nil)
    let none = TrustedProxies(blocks: [])
    #expect(
      try none.client(peer: client("10.0.0.1"), forwarded: ["198.51.100.7"])
        == client("10.0.0.1"))
  }
}
