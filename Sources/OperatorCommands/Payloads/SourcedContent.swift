/// What files hold for people to look at: what Apple signed, or answered once.
enum SourcedContent {
  /// A transaction, renewal info, app transaction or notification in compact form.
  case jws([UInt8])
  /// A legacy receipt: DER, or base64 of it.
  case receipt([UInt8])
  /// JSON of Apple's former `verifyReceipt`.
  case archivedResponse([UInt8])
}
