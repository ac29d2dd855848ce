import EntitlementDomain
import NIOCore
import Testing

@testable import Wire

extension MessageValueTests {
  @Test("The evidence of a source is as in Protos; an unknown number is the weakest")
  func evidence() throws {
    let names = try #require(MessageProtos().enumerations["Evidence"])
    var authorities: [String: FactAuthority?] = [
      "EVIDENCE_UNSPECIFIED": nil, "EVIDENCE_SIGNED_TRANSACTION": .signedTransaction,
      "EVIDENCE_RECEIPT": .receipt, "EVIDENCE_UNSIGNED_ARCHIVE": .archivedResponse,
    ]
    for (number, name) in names {
      let authority = authorities.removeValue(forKey: name)
      #expect(authority == .some(try source(evidence: UInt64(number)).evidence), "\(name)")
    }
    #expect(authorities.isEmpty)
    for number in [4, UInt64.max] {
      #expect(try source(evidence: number).evidence == .archivedResponse)
    }
  }

  private func source(evidence number: UInt64) throws -> EntitlementSource {
    let source = MessageBytes().field(6, text: "g").field(8, number: number)
    let entitlement = MessageBytes().field(1, text: "pro").field(2, message: source)
    let state = MessageBytes().field(1, text: "a").field(6, number: 2)
      .field(8, message: entitlement)
    let bytes = MessageBytes().field(1, message: state)
    let answer = try GetCustomerStateResponse.decode(from: bytes.buffer)
    guard case .state(let decoded) = answer else {
      throw MessageError(.unreadable, in: "not a state")
    }
    // The value is written as it was read.
    #expect(try GetCustomerStateResponse.decode(from: answer.encoded()) == answer)
    return decoded.entitlements[0].sources[0]
  }

  private static let prioritised:
    [(UInt64, String, @Sendable (UInt64) throws -> SubmissionPriority)] =
      [
        (
          4, "SubmitSignedTransactionsRequest",
          { number in
            let item = MessageBytes().field(1, text: "e")
            let bytes = MessageBytes().field(3, message: item).field(4, number: number)
            return try SubmitSignedTransactionsRequest.decode(from: bytes.buffer).priority
          }
        ),
        (
          3, "SubmitNotificationRequest",
          { number in
            let bytes = MessageBytes().field(1, text: "e").field(3, number: number)
            return try SubmitNotificationRequest.decode(from: bytes.buffer).priority
          }
        ),
        (
          5, "SubmitReceiptRequest",
          { number in
            let bytes = MessageBytes().field(3, text: "e").field(5, number: number)
            return try SubmitReceiptRequest.decode(from: bytes.buffer).priority
          }
        ),
      ]

  @Test("An absent priority is interactive, an unknown one is refused")
  func priorities() throws {
    for (_, name, priority) in Self.prioritised {
      #expect(try priority(0) == .interactive)
      #expect(try priority(1) == .interactive)
      #expect(try priority(2) == .bulk)
      for number in [3, UInt64.max] {
        #expect(throws: MessageError(.unknownValue(field: "priority"), in: "entitle.v1." + name)) {
          try priority(number)
        }
      }
    }
  }

  @Test("A receipt needs a known environment and its app")
  func receiptScope() {
    let unknown = MessageBytes().field(2, text: "b").field(3, number: 9)
    #expect(
      throws: MessageError(.unknownValue(field: "environment"), in: "entitle.v1.ReceiptSummary")
    ) {
      try SubmitReceiptResponse.decode(from: MessageBytes().field(3, message: unknown).buffer)
    }
    #expect(throws: MessageError(.missing(field: "bundle_id"), in: "entitle.v1.ReceiptSummary")) {
      try SubmitReceiptResponse.decode(
        from: MessageBytes().field(3, message: MessageBytes()).buffer)
    }
  }
}
