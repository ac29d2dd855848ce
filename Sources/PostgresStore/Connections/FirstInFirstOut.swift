/// A queue. Both of its ends cost the same, however long it is.
struct FirstInFirstOut<Element> {
  private var elements: [Element?] = []
  private var start = 0

  var count: Int { elements.count - start }
  var isEmpty: Bool { count == 0 }
  var first: Element? { start < elements.count ? elements[start] : nil }

  mutating func append(_ element: Element) { elements.append(element) }

  mutating func popFirst() -> Element? {
    guard start < elements.count else { return nil }
    defer {
      elements[start] = nil
      start += 1
      // Taken places go when they are half of all, so that each element is moved once at most.
      if start == elements.count {
        elements.removeAll(keepingCapacity: true)
        start = 0
      } else if start >= 64, start * 2 >= elements.count {
        elements.removeFirst(start)
        start = 0
      }
    }
    return elements[start]
  }

  /// Changes the first one where it is; nothing when there is none.
  mutating func withFirst(_ body: (inout Element) -> Void) {
    guard start < elements.count, var element = elements[start] else { return }
    // It is held once meanwhile, so that what it owns is not copied.
    elements[start] = nil
    body(&element)
    elements[start] = element
  }

  /// Takes all.
  mutating func popAll() -> [Element] {
    defer {
      elements = []
      start = 0
    }
    return elements[start...].compactMap(\.self)
  }

  /// Takes those that meet a condition; the others keep their order.
  mutating func pop(where condition: (Element) -> Bool) -> [Element] {
    let all = popAll()
    elements = all.filter { !condition($0) }
    return all.filter(condition)
  }

  /// Takes the first one that meets a condition; the others keep their order.
  mutating func removeFirst(where condition: (Element) -> Bool) {
    let isMet = { (element: Element?) in element.map(condition) ?? false }
    guard let index = elements[start...].firstIndex(where: isMet) else { return }
    elements.remove(at: index)
  }

  func contains(where condition: (Element) -> Bool) -> Bool {
    elements[start...].contains { $0.map(condition) ?? false }
  }

  func forEach(_ body: (Element) -> Void) {
    for case let element? in elements[start...] { body(element) }
  }
}
