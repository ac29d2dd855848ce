/// What the facts of a receipt came in.
enum ReceiptOrigin: Sendable {
  /// PKCS#7, signed.
  case receipt
  /// A response of `verifyReceipt`, which nobody signed.
  case archivedResponse

  /// For people.
  var label: String {
    switch self {
    case .receipt: "receipt"
    case .archivedResponse: "archived response"
    }
  }
}
