import DequeModule

/// Where work comes from. Sources with waiting work take turns, so that one of them does not delay
/// the others by more than its turn.
package enum WorkSource: Hashable, Sendable {
  /// The calls of one authenticated caller, by its number, over all its connections.
  case caller(UInt64)
  /// The calls of one connection of a server without access control, by its number.
  case connection(UInt64)
  /// The server itself. What begins such work bounds it, so it has no share of a queue.
  case server
}

/// How long a source is served before the next one.
package struct Turn: Hashable, Sendable {
  /// Items of average cost.
  package var items: Int
  /// The working time of these items. Items that took longer end the turn earlier.
  package var time: Duration

  package init(items: Int, time: Duration) {
    self.items = max(items, 1)
    self.time = time
  }

  /// One element for each source, whatever its cost.
  package static let oneElement = Turn(items: 1, time: .zero)

  /// The number of average items that take this long.
  func items(in elapsed: Duration) -> Int {
    guard elapsed > .zero, time > .zero else { return 0 }
    return Int(min(elapsed / time, 1_000_000) * Double(items))
  }
}

/// A queue in which sources take turns (round robin). The work of one source stays in order.
///
/// A source keeps its turn until the work that was taken from it has used the turn up. The cost of
/// work is known only afterwards: what a source used beyond its turn counts against its next one.
/// Each call takes constant amortised time. Only sources with waiting work use memory.
package struct TurnQueue<Element> {
  fileprivate struct Line {
    var elements: Deque<(element: Element, items: Int)> = []
    /// What the source has used of its turn, in items.
    var used = 0
  }

  private let turn: Turn
  private var lines: [WorkSource: Line] = [:]
  /// The sources with waiting work, in the order of their turns.
  private var order: Deque<WorkSource> = []

  package init(turn: Turn) {
    self.turn = turn
  }

  package var isEmpty: Bool { order.isEmpty }

  /// The number of waiting elements.
  package var count: Int { lines.values.reduce(0) { $0 + $1.elements.count } }

  /// The number of items of the next work; nil if there is none.
  mutating func nextItems() -> Int? {
    endUsedTurns()
    return order.first.flatMap { lines[$0]?.elements.first?.items }
  }

  /// Adds work at the end of its source's line.
  ///
  /// - Parameter items: the number of items in the element, at least 1.
  package mutating func append(_ element: Element, items: Int, of source: WorkSource) {
    if lines[source] == nil { order.append(source) }
    lines[source, default: Line()].elements.append((element, items))
  }

  /// Returns work that was taken and not finished. It is the first of its source's line.
  mutating func putBack(_ element: Element, items: Int, of source: WorkSource) {
    if lines[source] == nil { order.append(source) }
    lines[source, default: Line()].elements.prepend((element, items))
  }

  /// Takes the next work.
  package mutating func popFirst() -> (element: Element, source: WorkSource)? {
    endUsedTurns()
    guard let source = order.first, var line = lines.removeValue(forKey: source),
      let next = line.elements.popFirst()
    else { return nil }
    line.used += next.items
    if line.elements.isEmpty {
      order.removeFirst()
    } else {
      lines[source] = line
    }
    return (next.element, source)
  }

  /// Takes elements in the order of turns until `choice` ends it. A source whose element is passed
  /// over is not asked again in this call, so that its order is kept. It has the next turn.
  package mutating func take(_ choice: (Element) -> TurnChoice) -> [Element] {
    var taken: [Element] = []
    var passed: [WorkSource] = []
    taking: while true {
      endUsedTurns()
      guard let source = order.first, let next = lines[source]?.elements.first?.element else {
        break
      }
      switch choice(next) {
      case .take:
        taken.append(next)
        _ = popFirst()
      case .pass:
        passed.append(order.removeFirst())
      case .end:
        break taking
      }
    }
    if !passed.isEmpty {
      order.prepend(contentsOf: passed)
      // What a source used while others were passed over is no debt: they have the next turns.
      for source in order.prefix(passed.count + 1) { lines[source]?.used = 0 }
    }
    return taken
  }

  /// Removes elements wherever they wait.
  package mutating func remove(where isRemoved: (Element) -> Bool) -> [Element] {
    var removed: [Element] = []
    for source in order {
      let leaving = lines[source]?.elements.compactMap { isRemoved($0.element) ? $0.element : nil }
      guard let leaving, !leaving.isEmpty else { continue }
      removed += leaving
      lines[source]?.elements.removeAll { isRemoved($0.element) }
      if lines[source]?.elements.isEmpty == true { lines[source] = nil }
    }
    if !removed.isEmpty { order.removeAll { lines[$0] == nil } }
    return removed
  }

  /// Work of a source took this long.
  ///
  /// - Parameter items: the items done, which were counted when they were taken.
  mutating func charge(_ source: WorkSource, _ elapsed: Duration, items: Int) {
    let extra = turn.items(in: elapsed) - items
    if extra > 0 { lines[source]?.used += extra }
  }

  /// A source that has used its turn goes to the end. Alone, it keeps its turn.
  private mutating func endUsedTurns() {
    while order.count > 1, let source = order.first, lines[source]?.used ?? 0 >= turn.items {
      lines[source]?.used = 0
      order.append(order.removeFirst())
    }
  }
}

/// What happens to an element of a ``TurnQueue``.
package enum TurnChoice: Sendable {
  case take
  /// It waits, and elements of other sources may be taken before it.
  case pass
  /// Nothing more is taken.
  case end
}

extension TurnQueue: Sendable where Element: Sendable {}

extension TurnQueue.Line: Sendable where Element: Sendable {}

/// Chooses the next chunk. Interactive work comes first. While both priorities wait, bulk work gets
/// one item for every ``interactiveItemsPerBulkItem`` interactive ones, so that it is slow under
/// load but does not starve.
struct WorkScheduler {
  /// This is 6 % of the work, so it hardly delays interactive work but still makes progress.
  private static let interactiveItemsPerBulkItem = 16

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
    if overtaken / Self.interactiveItemsPerBulkItem >= bulk {
      overtaken = 0
      return .bulk
    }
    overtaken += interactive
    return .interactive
  }

  /// Items that were taken wait again.
  mutating func putBack(_ items: Int, _ priority: WorkPriority) {
    if priority == .interactive { overtaken = max(0, overtaken - items) }
  }
}
