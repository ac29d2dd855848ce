import EntitlementDomain
import JSON
import Verification

/// The decoded contents of an input for printing. They are not verified.
enum InspectedContent {
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

  /// The kind's name in `Protos/`, a documented contract; nil for an unknown kind.
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

  /// The embedded certificates; nil for inputs without any.
  var certificates: [InspectedPayload.CertificateSummary]? {
    switch self {
    case .payload(let inspected): inspected.certificates
    case .receipt(let inspected): inspected.certificates
    case .archivedResponse: nil
    }
  }

  /// The contents as text for a terminal.
  var text: String {
    switch self {
    case .payload(let inspected): inspected.payload.indented()
    case .receipt(let inspected): ReceiptText.text(of: inspected.receipt)
    case .archivedResponse(let response): ReceiptText.text(of: response.receipt)
    }
  }
}
