import RPCClient

extension EntitlementClientConfiguration {
  /// A client that makes every call once, so that each answer and each failure is counted.
  static func impatient(
    timeout: Duration? = EntitlementClientConfiguration.defaultTimeout
  ) -> EntitlementClientConfiguration {
    EntitlementClientConfiguration(
      timeout: timeout, connectTimeout: .seconds(2), retries: .off)
  }
}
