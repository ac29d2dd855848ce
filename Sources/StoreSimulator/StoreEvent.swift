package import EntitlementDomain

/// The payloads that the simulated App Store signs at one time, which is their signing date.
package struct StoreEvent: Hashable, Sendable {
  package var at: Milliseconds
  /// New or changed transactions; a notification about a purchase carries the first.
  package var transactions: [TransactionPayload]
  /// A notification about a purchase carries it too.
  package var renewalInfo: RenewalInfoPayload?
  /// A notification about the app carries it.
  package var appTransaction: AppTransactionPayload?
  package var notification: StoreNotification?

  package init(
    at: Milliseconds, transactions: [TransactionPayload], renewalInfo: RenewalInfoPayload? = nil,
    appTransaction: AppTransactionPayload? = nil, notification: StoreNotification? = nil
  ) {
    self.at = at
    self.transactions = transactions
    self.renewalInfo = renewalInfo
    self.appTransaction = appTransaction
    self.notification = notification
  }
}

/// A ``StoreEvent`` with each payload as a compact JWS.
package struct SignedEvent: Hashable, Sendable {
  package var at: Milliseconds
  package var transactions: [String]
  package var renewalInfo: String?
  package var appTransaction: String?
  package var notification: String?
  /// The facts that the notification carries; of the transactions, only the first.
  package var notificationContents: NotificationForm.Contents

  package init(
    at: Milliseconds, transactions: [String], renewalInfo: String? = nil,
    appTransaction: String? = nil, notification: String? = nil,
    notificationContents: NotificationForm.Contents = [.transaction, .renewalInfo]
  ) {
    self.at = at
    self.transactions = transactions
    self.renewalInfo = renewalInfo
    self.appTransaction = appTransaction
    self.notification = notification
    self.notificationContents = notificationContents
  }

  /// Every signed fact of the event, each once, without the notification.
  package var facts: [String] {
    transactions + [renewalInfo, appTransaction].compactMap { $0 }
  }

  /// The signed facts that the notification does not carry.
  package var factsOutsideNotification: [String] {
    guard notification != nil else { return facts }
    let contents = notificationContents
    return transactions.dropFirst(contents.contains(.transaction) ? 1 : 0)
      + [
        contents.contains(.renewalInfo) ? nil : renewalInfo,
        contents.contains(.appTransaction) ? nil : appTransaction,
      ].compactMap { $0 }
  }
}

/// Signs payloads as compact JWS.
package protocol SimulatedSigner: Sendable {
  /// - Parameter payloadJSON: any bytes; they are signed as they are.
  /// - Returns: a compact JWS (RFC 7515 §7.1).
  /// - Throws: ``SimulatorError/Code/cryptography``.
  func sign(payloadJSON: [UInt8]) throws(SimulatorError) -> String
}

extension SimulatedSigner {
  /// Signs all payloads of an event.
  ///
  /// - Throws: ``SimulatorError/Code/cryptography``.
  package func sign(_ event: StoreEvent) throws(SimulatorError) -> SignedEvent {
    var transactions: [String] = []
    for transaction in event.transactions {
      transactions.append(try sign(payloadJSON: transaction.json))
    }
    var signed = SignedEvent(at: event.at, transactions: transactions)
    if let renewalInfo = event.renewalInfo {
      signed.renewalInfo = try sign(payloadJSON: renewalInfo.json)
    }
    if let appTransaction = event.appTransaction {
      signed.appTransaction = try sign(payloadJSON: appTransaction.json)
    }
    if let notification = event.notification {
      signed.notification = try sign(
        payloadJSON: notification.json(
          signedTransaction: transactions.first, signedRenewalInfo: signed.renewalInfo,
          signedAppTransaction: signed.appTransaction))
      signed.notificationContents = notification.contents
    }
    return signed
  }

  /// Signs events in their order.
  ///
  /// - Throws: ``SimulatorError/Code/cryptography``.
  package func sign(_ events: [StoreEvent]) throws(SimulatorError) -> [SignedEvent] {
    var signed: [SignedEvent] = []
    for event in events { signed.append(try sign(event)) }
    return signed
  }
}
