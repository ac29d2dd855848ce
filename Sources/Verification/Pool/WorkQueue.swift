/// First in, first out, at a constant cost for each element.
struct WorkQueue<Element> {
  /// Nil where an element was taken: what it held is not kept any longer.
  private var elements: [Element?] = []
  /// Elements before this one were taken.
  private var next = 0

  /// What waits longest.
  var first: Element? { next < elements.count ? elements[next] : nil }

  mutating func append(contentsOf added: some Sequence<Element>) {
    elements.append(contentsOf: added.lazy.map(Optional.some))
  }

  mutating func popFirst() -> Element? {
    guard let element = first else { return nil }
    elements[next] = nil
    next += 1
    // What was taken goes when it is the greater part, so that a queue that never empties stays
    // short, at a constant cost for each element.
    if next > elements.count / 2 {
      elements.removeFirst(next)
      next = 0
    }
    return element
  }
}

extension WorkQueue: Sendable where Element: Sendable {}
