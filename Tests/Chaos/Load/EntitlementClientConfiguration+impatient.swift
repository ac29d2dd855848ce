import RPCClient

extension EntitlementClientConfiguration {
  /// Makes every call once, so that each answer and each failure is seen and counted.
  static func impatient(
    timeout: Duration? = EntitlementClientConfiguration.defaultTimeout
  ) -> EntitlementClientConfiguration {
    EntitlementClientConfiguration(
      timeout: timeout, connectTimeout: .seconds(2), retries: .off)
  }
}
