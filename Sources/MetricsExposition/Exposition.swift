/// What `/metrics` answers: the metrics of the process, collected at each scrape from the counters
/// that its parts keep anyway.
package struct Exposition: Sendable {
  package typealias Source = @Sendable () -> [MetricFamily]

  /// An answer to a scrape.
  package struct Page: Sendable {
    package let contentType: String
    package let body: [UInt8]
  }

  private let sources: [Source]

  /// - Parameter sources: called at each scrape, on its thread. Of families with the same name, that
  ///   of the first source is shown: a library cannot replace a metric of ours.
  package init(_ sources: [Source]) {
    self.sources = sources
  }

  package var families: [MetricFamily] {
    var names: Set<String> = []
    return sources.flatMap { $0() }.filter { names.insert($0.name).inserted }
  }

  /// The metrics in the form that the client prefers.
  ///
  /// - Parameter accept: the value of the header `Accept`; nil without one.
  package func page(accept: String?) -> Page {
    let format = ExpositionFormat(accept: accept)
    var text = ExpositionText(format)
    for family in families { text.write(family) }
    return Page(contentType: format.contentType, body: text.finish())
  }
}
