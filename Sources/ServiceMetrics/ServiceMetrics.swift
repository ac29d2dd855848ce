package import EntitlementService
package import MetricsExposition
package import RPCServer

/// The metrics of a server.
package enum ServiceMetrics {
  /// What monitoring reads of a server: ``MetricTable``, and what libraries reported.
  ///
  /// - Parameters:
  ///   - statistics: what GetStatistics returns.
  ///   - server: nil after it was released.
  ///   - libraries: installed in this process.
  ///   - store: the kind of store, such as `sqlite`.
  package static func exposition(
    statistics: ServiceStatistics, server: @escaping @Sendable () -> RPCServer?,
    libraries: LibraryMetrics, version: String, store: String
  ) -> Exposition {
    let mapping = StatisticMapping()
    let build = MetricTable.buildInfo.family([
      MetricSample([MetricLabel("version", version), MetricLabel("store", store)], 1)
    ])
    return Exposition([
      {
        server().map {
          CallMetrics.families(of: $0.statistics.calls, methods: $0.methodNames)
        } ?? []
      },
      { [build] }, { mapping.families(of: statistics.values).families },
      { ProcessMetrics.families }, { libraries.families },
    ])
  }
}
