package import EntitlementService
package import MetricsExposition
package import RPCServer

/// The metrics of a server: ``MetricTable``, and what libraries reported.
package struct ServiceMetrics: Sendable {
  private let server: @Sendable () -> RPCServer?
  private let libraries: LibraryMetrics
  private let build: MetricFamily
  private let mapping = StatisticMapping()

  /// - Parameters:
  ///   - server: nil after it was released.
  ///   - libraries: installed in this process.
  ///   - store: the kind of store, such as `sqlite`.
  package init(
    server: @escaping @Sendable () -> RPCServer?, libraries: LibraryMetrics, version: String,
    store: String
  ) {
    self.server = server
    self.libraries = libraries
    build = MetricTable.buildInfo.family([
      MetricSample([MetricLabel("version", version), MetricLabel("store", store)], 1)
    ])
  }

  /// What monitoring reads. Takes about a millisecond.
  ///
  /// - Parameters:
  ///   - values: what GetStatistics returns to the caller: some callers may not see all of them.
  ///   - accept: the value of the header `Accept`; nil without one.
  package func page(of values: [StatisticValue], accept: String?) -> Exposition.Page {
    Exposition([
      {
        server().map {
          CallMetrics.families(of: $0.statistics.calls, methods: $0.methodNames)
        } ?? []
      },
      { [build] }, { mapping.families(of: values).families }, { ProcessMetrics.families },
      { libraries.families },
    ]).page(accept: accept)
  }
}
