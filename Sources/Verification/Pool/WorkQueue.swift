/// A FIFO queue with amortised constant cost for each element.
struct WorkQueue<Element> {
  /// Nil where an element was removed, so that it is released at once.
  private var elements: [Element?] = []
  /// Index of the first remaining element.
  private var next = 0

  /// The oldest element.
  var first: Element? { next < elements.count ? elements[next] : nil }

  mutating func append(contentsOf added: some Sequence<Element>) {
    elements.append(contentsOf: added.lazy.map(Optional.some))
  }

  mutating func popFirst() -> Element? {
    guard let element = first else { return nil }
    elements[next] = nil
    next += 1
    // Removed slots are dropped once they are the majority. So a queue that never empties stays
    // short, at an amortised constant cost.
    if next > elements.count / 2 {
      elements.removeFirst(next)
      next = 0
    }
    return element
  }
}

extension WorkQueue: Sendable where Element: Sendable {}

/// Chooses the next chunk. Interactive work comes first. While both priorities wait, bulk work gets
/// one item for every ``VerificationLimits/interactiveItemsPerBulkItem`` interactive ones, so that
/// it is slow under load but does not starve.
struct WorkScheduler {
  /// Interactive items taken while bulk work waited, since the last bulk chunk.
  private var overtaken = 0

  /// - Parameters:
  ///   - interactive: number of items of the first interactive chunk; nil if there is none.
  ///   - bulk: the same for bulk work.
  /// - Returns: the priority to take next; nil when nothing waits.
  mutating func next(interactive: Int?, bulk: Int?) -> WorkPriority? {
    guard let interactive else {
      overtaken = 0
      return bulk == nil ? nil : .bulk
    }
    guard let bulk else {
      overtaken = 0
      return .interactive
    }
    // A division, because the product could overflow.
    if overtaken / VerificationLimits.interactiveItemsPerBulkItem >= bulk {
      overtaken = 0
      return .bulk
    }
    overtaken += interactive
    return .interactive
  }
}
