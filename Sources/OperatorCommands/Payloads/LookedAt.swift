import EntitlementDomain
import Verification

/// What people see of something signed, whatever became of its verification.
enum LookedAt {
  case payload(InspectedPayload)
  case receipt(InspectedReceipt)
  case archivedResponse(ArchivedResponse)

  init(_ content: SourcedContent) throws(Refusal) {
    switch content {
    case .jws(let bytes): self = .payload(try InspectedPayload(bytes))
    case .receipt(let bytes): self = .receipt(try InspectedReceipt(bytes))
    case .archivedResponse(let bytes): self = .archivedResponse(try ArchivedResponse(bytes))
    }
  }

  /// A contract; nil for a payload of no kind that is known.
  var kind: String? {
    switch self {
    case .payload(let inspected): inspected.kind?.name
    case .receipt: "RECEIPT"
    case .archivedResponse: "ARCHIVED_RESPONSE"
    }
  }

  var header: JSONValue? {
    guard case .payload(let inspected) = self else { return nil }
    return try? JSONValue(inspected.header)
  }

  var payload: JSONValue? {
    guard case .payload(let inspected) = self else { return nil }
    return try? JSONValue(inspected.payload)
  }

  var receipt: ReceiptDocument? {
    switch self {
    case .payload: nil
    case .receipt(let inspected): ReceiptDocument(inspected.receipt)
    case .archivedResponse(let response): ReceiptDocument(response.receipt)
    }
  }

  /// The hash function of a receipt's signature.
  var digestAlgorithm: String? {
    guard case .receipt(let inspected) = self else { return nil }
    return inspected.digestAlgorithm
  }

  /// Nil where nothing carries any.
  var certificates: [InspectedPayload.CertificateSummary]? {
    switch self {
    case .payload(let inspected): inspected.certificates
    case .receipt(let inspected): inspected.certificates
    case .archivedResponse: nil
    }
  }

  /// What it says, for people.
  var text: String {
    switch self {
    case .payload(let inspected): inspected.payload.indented()
    case .receipt(let inspected): ReceiptText.text(of: inspected.receipt)
    case .archivedResponse(let response): ReceiptText.text(of: response.receipt)
    }
  }
}
