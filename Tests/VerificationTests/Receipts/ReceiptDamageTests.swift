import Cryptography
import EntitlementDomain
import StoreSimulator
import TestSupport
import Testing

@testable import Verification

@Suite("Receipts that were damaged or made up")
struct ReceiptDamageTests {
  private static let shares = 8

  /// Receipts that are not authentic get no verdict about their content.
  private static func isAboutContent(_ verdict: Verdict) -> Bool {
    switch verdict {
    case .ok, .wrongApp, .wrongEnvironment, .wrongDevice, .certificateExpired, .retryable: true
    default: false
    }
  }

  /// - Parameter share: which part of the receipt is altered, so that tests run side by side.
  @Test(arguments: 0..<shares)
  func `a receipt with any bit altered is refused`(share: Int) throws {
    let receipt = try ReceiptWorkshop.sign()
    let verifier = ReceiptWorkshop.verifier
    #expect(verdict(verifier, receipt) == .ok)
    let length = (receipt.count + Self.shares - 1) / Self.shares
    for index in receipt.indices.dropFirst(share * length).prefix(length) {
      for bit in 0..<8 {
        var altered = receipt
        altered[index] ^= 1 << UInt8(bit)
        let outcome = verdict(verifier, altered)
        #expect(!Self.isAboutContent(outcome), "byte \(index), bit \(bit): \(outcome.name)")
      }
    }
    #expect(verifier.cache.count == 1)
  }

  @Test func `a receipt cut at any length is refused`() throws {
    let receipt = try ReceiptWorkshop.sign()
    let verifier = ReceiptWorkshop.verifier
    for length in 0..<receipt.count {
      #expect(verdict(verifier, Array(receipt[..<length])) == .malformed, "cut at \(length)")
    }
    #expect(verdict(verifier, receipt + [0]) == .malformed)
  }

  @Test func `its base64 cut at any length is refused`() throws {
    let text = Base64Form.standard.encode(try ReceiptWorkshop.sign())
    let verifier = ReceiptWorkshop.verifier
    for length in 0..<text.count {
      #expect(verdict(verifier, Array(text[..<length])) == .malformed, "cut at \(length)")
    }
  }

  @Test func `content cut at any length, and signed so, is refused`() throws {
    let content = ReceiptWorkshop.content.encoded
    for length in 0..<content.count {
      #expect(throws: Refusal.self) { try Receipt(content: Array(content[..<length])) }
    }
  }

  @Test func `indefinite lengths are refused wherever they are`() throws {
    let receipt = try ReceiptWorkshop.sign()
    // The message, the explicit tag and the signed data begin with lengths of two octets.
    let outer = [UInt8](receipt[0..<4])
    #expect(outer[0] == 0x30 && outer[1] == 0x82)
    let whole = [0x30, 0x80] + receipt[4...] + [0x00, 0x00]
    #expect(
      refusal(ReceiptWorkshop.verifier, whole)
        == Refusal(
          .malformed,
          "not DER: indefinite lengths are accepted only from Xcode, under a root that the "
            + "operator named"))
    // One below an element of definite length is not converted, whoever signed it.
    let message = MessageTree(receipt)
    let signedData = message.root.children[1].children[0]
    let inner = [0x30, 0x80] + signedData.children.flatMap(\.encoded) + [0x00, 0x00]
    let mixed = DERNode(
      0x30, [message.root.children[0], DERNode(0xA0, [DERNode(raw: inner)])])
    #expect(
      refusal(ReceiptWorkshop.verifier, mixed.encoded)
        == Refusal(.malformed, "not DER: a length is indefinite"))
    // One inside a certificate, where OpenSSL alone would read it.
    let inside = try ReceiptWorkshop.altered { tree in
      var certificate = tree.certificates[0]
      certificate.children[0] = DERNode(0x24, [.octets([0x30, 0x80, 0x00, 0x00])])
      tree.certificates[0] = certificate
    }
    #expect(verdict(ReceiptWorkshop.verifier, inside) == .invalidCertificate)
  }

  @Test(arguments: [40, 3_000])
  func `deep nesting is refused before OpenSSL sees it`(depth: Int) throws {
    var nest: [UInt8] = []
    for _ in 0..<depth { nest = [0x30] + DERNode.length(nest.count) + nest }
    let receipts = [
      try ReceiptWorkshop.altered { $0.certificates[0] = DERNode(raw: nest) },
      try ReceiptWorkshop.altered { $0.signer[1] = DERNode(raw: nest) },
      nest,
    ]
    for receipt in receipts {
      #expect(verdict(ReceiptWorkshop.verifier, receipt) == .malformed)
      #expect(throws: Refusal.self) { try InspectedReceipt(receipt) }
    }
  }

  @Test func `content that nests 10,000 deep is refused`() throws {
    var nest: [UInt8] = []
    for _ in 0..<10_000 { nest = [0x31] + DERNode.length(nest.count) + nest }
    let receipt = try ReceiptWorkshop.authority.sign(content: nest)
    #expect(verdict(ReceiptWorkshop.verifier, receipt) == .malformed)
  }

  @Test func `long input is refused unread`() throws {
    let verifier = ReceiptWorkshop.verifier
    let limit = VerificationLimits.receiptLength
    let long = DERNode.octets(Array(repeating: 0x41, count: 4_194_304)).encoded
    let inputs: [[UInt8]] = [
      [0x30] + long.dropFirst(), Array(repeating: 0x30, count: 4_194_304),
      Array(repeating: UInt8(ascii: "M"), count: 4_194_304),
      Array(repeating: UInt8(ascii: " "), count: 4_194_304),
      [0x30] + DERNode.length(limit) + Array(repeating: 0, count: limit),
    ]
    for input in inputs { #expect(verdict(verifier, input) == .malformed) }
  }

  @Test(arguments: [80_000, 1_000_000])
  func `long receipts are accepted up to the limit`(length: Int) throws {
    let content = ReceiptWorkshop.content.adding(
      .init(type: 6, value: Array(repeating: 0x30, count: length)))
    let verifier = ReceiptWorkshop.verifier
    let receipt = try ReceiptWorkshop.sign(content)
    #expect(verdict(verifier, receipt) == .ok)
    #expect(verdict(verifier, Base64Form.standard.encode(receipt)) == .ok)
  }

  @Test func `much around the content is refused`() throws {
    let padded = try ReceiptWorkshop.altered { tree in
      tree.certificates[0].children.append(.octets(Array(repeating: 1, count: 20_000)))
    }
    #expect(verdict(ReceiptWorkshop.verifier, padded) == .malformed)
  }

  @Test func `random bytes are refused`() throws {
    var generator = SeededRandom(for: "random receipts")
    let verifier = ReceiptWorkshop.verifier
    let receipt = try ReceiptWorkshop.sign()
    for _ in 0..<2_000 {
      #expect(verdict(verifier, generator.bytes(upTo: 300)) == .malformed)
      // A stretch of a genuine one replaced, removed or repeated.
      var altered = receipt
      let start = Int.random(in: 0..<receipt.count, using: &generator)
      let end = min(receipt.count, start + Int.random(in: 1...64, using: &generator))
      let replacement: [UInt8] =
        switch Int.random(in: 0..<3, using: &generator) {
        case 0: generator.bytes(upTo: 64)
        case 1: []
        default: Array(receipt[start..<end] + receipt[start..<end])
        }
      guard replacement != Array(receipt[start..<end]) else { continue }
      altered.replaceSubrange(start..<end, with: replacement)
      guard altered != receipt else { continue }
      let outcome = verdict(verifier, altered)
      #expect(!Self.isAboutContent(outcome), "\(start)..<\(end): \(outcome.name)")
    }
  }

  @Test func `random elements in the place of genuine ones are refused`() throws {
    var generator = SeededRandom(for: "random elements")
    let verifier = ReceiptWorkshop.verifier
    let receipt = MessageTree(try ReceiptWorkshop.sign())
    for _ in 0..<2_000 {
      var tree = receipt
      let isAltered = tree.root.alterSomewhere(using: &generator)
      guard isAltered, tree.encoded != receipt.encoded else { continue }
      let outcome = verdict(verifier, tree.encoded)
      // Only the order of the certificates, and NULL in place of nothing, make no difference.
      if outcome == .ok {
        #expect(
          Set(tree.certificates) == Set(receipt.certificates)
            && tree.content == receipt.content && tree.signer[4] == receipt.signer[4])
      } else {
        #expect(!Self.isAboutContent(outcome), "\(outcome.name)")
      }
    }
  }
}

extension DERNode {
  /// Changes one element somewhere inside; false when it came to nothing.
  fileprivate mutating func alterSomewhere(using generator: inout SeededRandom) -> Bool {
    guard isConstructed, let index = children.indices.randomElement(using: &generator),
      Int.random(in: 0..<5, using: &generator) > 0
    else {
      switch Int.random(in: 0..<4, using: &generator) {
      case 0:
        tag = [0x02, 0x04, 0x05, 0x06, 0x30, 0x31, 0xA0].randomElement(using: &generator) ?? 0
      case 1: value = generator.bytes(upTo: 40)
      case 2: children = children.shuffled(using: &generator)
      default: children = children + children
      }
      return true
    }
    return children[index].alterSomewhere(using: &generator)
  }
}
