import NIOCore
import Wire

/// Every message of `Protos/`: a decoded message can be encoded, and decodes to the same again.
///
/// The first byte of an input chooses the message; the rest are its bytes.
package enum MessageProbe {
  static func run(_ input: [UInt8]) throws(BrokenInvariant) {
    guard let choice = input.first else { return }
    let kind = kinds[Int(choice) % kinds.count]
    try kind.check(ByteBuffer(bytes: input.dropFirst()))
  }

  /// - Returns: the input for a message; nil when its type is not in ``names``, or it cannot be
  ///   encoded.
  static func input<Message: WireMessage>(_ message: Message) -> [UInt8]? {
    guard let index = names.firstIndex(of: "\(Message.self)"),
      let encoded = try? message.encoded()
    else { return nil }
    return [UInt8(index)] + encoded.readableBytesView
  }

  /// The messages that are fuzzed.
  package static var names: [String] { kinds.map(\.name) }

  /// Whether an input is a valid message.
  static func canRead(_ input: [UInt8]) -> Bool {
    guard let choice = input.first else { return false }
    return kinds[Int(choice) % kinds.count].canRead(ByteBuffer(bytes: input.dropFirst()))
  }

  private struct Kind: Sendable {
    let name: String
    let canRead: @Sendable (ByteBuffer) -> Bool
    let check: @Sendable (ByteBuffer) throws(BrokenInvariant) -> Void

    init<Message: WireMessage & Equatable>(_ type: Message.Type) {
      name = "\(type)"
      canRead = { (try? Message.decode(from: $0)) != nil }
      check = { (bytes) throws(BrokenInvariant) in try MessageProbe.check(type, bytes) }
    }
  }

  private static let kinds = [
    Kind(GetCustomerStateRequest.self), Kind(GetCustomerStateResponse.self),
    Kind(BatchGetCustomerStateRequest.self), Kind(BatchGetCustomerStateResponse.self),
    Kind(CheckEntitlementRequest.self), Kind(CheckEntitlementResponse.self),
    Kind(ExplainCustomerStateRequest.self), Kind(ExplainCustomerStateResponse.self),
    Kind(ListCustomersRequest.self), Kind(ListCustomersResponse.self),
    Kind(SubmitSignedTransactionsRequest.self), Kind(SubmitSignedTransactionsResponse.self),
    Kind(SubmitNotificationRequest.self), Kind(SubmitNotificationResponse.self),
    Kind(SubmitReceiptRequest.self), Kind(SubmitReceiptResponse.self),
    Kind(AddGrantRequest.self), Kind(WithdrawGrantRequest.self), Kind(GrantResponse.self),
    Kind(ListGrantsRequest.self), Kind(ListGrantsResponse.self),
    Kind(GetCatalogRequest.self), Kind(ReloadCatalogRequest.self), Kind(CatalogResponse.self),
    Kind(ListChangesRequest.self), Kind(ListChangesResponse.self),
    Kind(GetStatisticsRequest.self), Kind(GetStatisticsResponse.self),
    Kind(ImportArchivedResponseRequest.self),
    Kind(HealthCheckRequest.self), Kind(HealthCheckResponse.self),
    Kind(ResolveAccountRequest.self), Kind(ResolveAccountResponse.self),
    Kind(LinkAccountRequest.self), Kind(UnlinkAccountRequest.self),
    Kind(TransferPurchaseRequest.self), Kind(MergeAccountsRequest.self), Kind(LinkResponse.self),
    Kind(BindAccountTokenRequest.self), Kind(ListAccountTokensRequest.self),
    Kind(ListAccountTokensResponse.self),
    Kind(ListLinksRequest.self), Kind(ListLinksResponse.self),
    Kind(GetLinkHistoryRequest.self), Kind(GetLinkHistoryResponse.self),
    Kind(GetCustomerHistoryRequest.self), Kind(GetCustomerHistoryResponse.self),
    Kind(ExportCustomerRequest.self), Kind(ExportedPiece.self), Kind(DeleteCustomerRequest.self),
    Kind(ListUnlinkedChainsRequest.self), Kind(ListUnlinkedChainsResponse.self),
    Kind(WatchCustomerStatesRequest.self), Kind(WatchCustomerStatesResponse.self),
    Kind(GetServerRequest.self), Kind(GetServerResponse.self),
    Kind(ListAuditEntriesRequest.self), Kind(ListAuditEntriesResponse.self),
    Kind(ListAuditSealsRequest.self), Kind(ListAuditSealsResponse.self),
    Kind(WhoAmIRequest.self), Kind(WhoAmIResponse.self),
    Kind(GetCredentialsRequest.self), Kind(ReloadCredentialsRequest.self),
    Kind(CredentialsResponse.self),
    Kind(ListNotificationsRequest.self), Kind(ListNotificationsResponse.self),
    Kind(ListJobsRequest.self), Kind(ListJobsResponse.self),
    Kind(RetryJobRequest.self), Kind(CancelJobRequest.self),
    Kind(ReconcileNotificationsRequest.self), Kind(JobResponse.self),
    Kind(GetTransactionRequest.self), Kind(ListTransactionsRequest.self),
    Kind(GetSubscriptionStatusesRequest.self), Kind(ListRefundsRequest.self),
    Kind(LookUpOrderRequest.self), Kind(GetAppTransactionRequest.self),
    Kind(AppStorePayloadsResponse.self), Kind(GetSubscriptionStatusesResponse.self),
    Kind(ListSentNotificationsRequest.self), Kind(SentNotificationsResponse.self),
    Kind(RequestTestNotificationRequest.self), Kind(GetTestNotificationRequest.self),
    Kind(ExtendRenewalRequest.self), Kind(ExtendAllRenewalsRequest.self),
    Kind(GetRenewalExtensionRequest.self), Kind(GetRenewalExtensionResponse.self),
    Kind(SetAppAccountTokenRequest.self), Kind(FinishTransactionRequest.self),
    Kind(AppStoreChangeResponse.self),
    Kind(SetConsumptionConsentRequest.self), Kind(SetConsumptionConsentResponse.self),
    Kind(GetConsumptionConsentRequest.self), Kind(GetConsumptionConsentResponse.self),
    Kind(SetConsumptionPercentageRequest.self), Kind(SetConsumptionPercentageResponse.self),
    Kind(ListConsumptionRequestsRequest.self), Kind(ListConsumptionRequestsResponse.self),
    Kind(SendConsumptionRequest.self), Kind(SendConsumptionResponse.self),
    Kind(GetOfferEligibilityRequest.self), Kind(GetOfferEligibilityResponse.self),
    Kind(SignPromotionalOfferRequest.self), Kind(SignIntroductoryOfferEligibilityRequest.self),
    Kind(SignOfferResponse.self),
    Kind(ImportAccountsRequest.self), Kind(ImportAccountsResponse.self),
    Kind(GetImportRequest.self), Kind(GetImportResponse.self),
    Kind(ListImportsRequest.self), Kind(ListImportsResponse.self),
    Kind(ListImportRowsRequest.self), Kind(ListImportRowsResponse.self),
    Kind(ChangeImportRequest.self), Kind(ChangeImportResponse.self),
  ]

  private static func check<Message: WireMessage & Equatable>(
    _ type: Message.Type, _ bytes: ByteBuffer
  ) throws(BrokenInvariant) {
    let message: Message
    do {
      message = try Message.decode(from: bytes)
    } catch {
      try require(!error.description.isEmpty, "a decoding error has a description")
      return
    }
    guard let encoded = try? message.encoded() else {
      throw BrokenInvariant("a decoded \(type) can be encoded")
    }
    guard let again = try? Message.decode(from: encoded) else {
      throw BrokenInvariant("an encoded \(type) can be decoded")
    }
    try require(again == message, "an encoded \(type) decodes to the same")
    try require(
      (try? again.encoded()) == encoded, "a \(type) has one encoding")
  }
}
