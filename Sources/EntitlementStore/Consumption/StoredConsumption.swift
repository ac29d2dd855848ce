package import EntitlementDomain

extension ConsumptionStatement {
  /// The columns of a stored statement.
  ///
  /// - Throws: ``StoreError/Code/corrupt`` for an unknown delivery status.
  package init(storedPercentage: Int64?, deliveryStatus: String?) throws(StoreError) {
    self.init(percentage: storedPercentage)
    guard let deliveryStatus else { return }
    guard let status = ConsumptionInformation.DeliveryStatus(rawValue: deliveryStatus) else {
      throw StoreError(.corrupt, "a stored purchase has an unknown delivery status")
    }
    self.deliveryStatus = status
  }
}

extension ConsumptionRequest {
  /// The columns of a stored request whose values may be unknown.
  ///
  /// - Throws: ``StoreError/Code/corrupt``.
  package static func stored(
    state: Int, cause: Int?
  ) throws(StoreError) -> (State, ConsumptionCause?) {
    guard let state = State(rawValue: state) else {
      throw StoreError(.corrupt, "a stored consumption request is in an unknown state")
    }
    guard let cause else { return (state, nil) }
    guard let cause = ConsumptionCause(rawValue: cause) else {
      throw StoreError(.corrupt, "a stored consumption request has an unknown cause")
    }
    return (state, cause)
  }
}

extension EntitlementStore {
  /// An answer with the id of its record, which has one only after the commit that stored it first.
  package func identified(_ answer: ConsumptionAnswer) async throws(StoreError) -> ConsumptionAnswer
  {
    guard case .record(var record, let isChanged) = answer, record.id == nil else { return answer }
    record.id = try await consumption(record.key)?.id
    return .record(record, isChanged: isChanged)
  }
}
