/// Who waits for a piece of work.
package enum WorkPriority: String, Hashable, Sendable, CaseIterable {
  /// A customer, or Apple's servers: somebody who gives up within seconds.
  case interactive
  /// An import: it may take its time, and must not take that of others.
  case bulk
}
