/// A binary heap: the least element comes first.
package struct Heap<Element: Comparable> {
  private var elements: [Element] = []

  package init() {}

  package var least: Element? { elements.first }

  package mutating func insert(_ element: Element) {
    elements.append(element)
    var child = elements.count - 1
    while child > 0 {
      let parent = (child - 1) / 2
      guard elements[child] < elements[parent] else { return }
      elements.swapAt(child, parent)
      child = parent
    }
  }

  package mutating func removeLeast() {
    guard let last = elements.popLast(), !elements.isEmpty else { return }
    elements[0] = last
    var parent = 0
    while true {
      var least = parent
      for child in (2 * parent + 1)...(2 * parent + 2) where child < elements.count {
        if elements[child] < elements[least] { least = child }
      }
      if least == parent { return }
      elements.swapAt(parent, least)
      parent = least
    }
  }
}

extension Heap: Sendable where Element: Sendable {}
