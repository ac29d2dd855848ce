import TestSupport
import Testing

@testable import Workers

@Suite("Turns, scheduling and chunks")
struct TurnQueueTests {
  private typealias Queue = TurnQueue<Int>

  private func source(_ number: UInt64) -> WorkSource { .connection(number) }

  /// Takes everything, and tells of which source each element was.
  private func order(of queue: inout Queue) -> [UInt64] {
    var order: [UInt64] = []
    while let (_, source) = queue.popFirst() {
      guard case .connection(let number) = source else { continue }
      order.append(number)
    }
    return order
  }

  @Test func `sources take turns, and each keeps its order`() {
    var random = SeededRandom(for: "queue")
    var queue = Queue(turn: Turn(items: 1, time: .seconds(1)))
    var waiting: [UInt64: [Int]] = [:]
    // For each source with waiting work: the turns of others since its last one.
    var overtaken: [UInt64: Int] = [:]
    for element in 0..<20_000 {
      if Int.random(in: 0..<5, using: &random) < 3 {
        let number = UInt64.random(in: 0..<6, using: &random)
        queue.append(element, items: 1, of: source(number))
        if waiting[number, default: []].isEmpty { overtaken[number] = 0 }
        waiting[number, default: []].append(element)
      } else if let (element, source) = queue.popFirst() {
        guard case .connection(let number) = source else { continue }
        #expect(waiting[number]?.first == element)
        waiting[number]?.removeFirst()
        for other in overtaken.keys where other != number { overtaken[other, default: 0] += 1 }
        #expect(overtaken[number, default: 0] <= 5)
        overtaken[number] = waiting[number]?.isEmpty == false ? 0 : nil
      } else {
        let isEmpty = waiting.values.allSatisfy { $0.isEmpty }
        #expect(isEmpty)
      }
    }
  }

  @Test func `a turn is a number of items, however they are divided`() {
    var queue = Queue(turn: Turn(items: 4, time: .seconds(1)))
    for element in 0..<8 { queue.append(element, items: 1, of: source(1)) }
    for element in 0..<4 { queue.append(element, items: 2, of: source(2)) }
    queue.append(0, items: 9, of: source(3))
    queue.append(1, items: 9, of: source(3))
    #expect(order(of: &queue) == [1, 1, 1, 1, 2, 2, 3, 1, 1, 1, 1, 2, 2, 3])
  }

  @Test func `work that took longer than average ends the turn earlier`() {
    var queue = Queue(turn: Turn(items: 32, time: .milliseconds(32)))
    for number in [1, 2] as [UInt64] {
      for element in 0..<40 { queue.append(element, items: 1, of: source(number)) }
    }
    var order: [UInt64] = []
    for _ in 0..<40 {
      guard let (_, source) = queue.popFirst(), case .connection(let number) = source else { break }
      order.append(number)
      queue.charge(source, .milliseconds(number == 1 ? 16 : 1), items: 1)
    }
    let expected: [UInt64] = [1, 1] + Array(repeating: 2, count: 32) + [1, 1, 2, 2, 2, 2]
    #expect(order == expected)
  }

  @Test func `a cost that is known late counts against the next turn`() {
    var queue = Queue(turn: Turn(items: 2, time: .milliseconds(2)))
    for number in [1, 2] as [UInt64] {
      for element in 0..<6 { queue.append(element, items: 1, of: source(number)) }
    }
    var order: [UInt64] = []
    while let (_, source) = queue.popFirst() {
      guard case .connection(let number) = source else { continue }
      order.append(number)
      // The first work of the first source ends while the second one has its turn.
      if order.count == 3 { queue.charge(self.source(1), .milliseconds(9), items: 1) }
    }
    #expect(order == [1, 1, 2, 2, 2, 2, 1, 1, 2, 2, 1, 1])
  }

  @Test func `work that was put back is the first of its source's next turn`() {
    var queue = Queue(turn: Turn(items: 1, time: .seconds(1)))
    queue.append(1, items: 1, of: source(1))
    queue.append(2, items: 1, of: source(1))
    queue.append(3, items: 1, of: source(2))
    #expect(queue.popFirst()?.element == 1)
    queue.putBack(10, items: 1, of: source(1))
    #expect([queue.popFirst()?.element, queue.popFirst()?.element] == [3, 10])
    #expect(queue.popFirst()?.element == 2)
    // Also when nothing else of the source waits.
    queue.putBack(20, items: 7, of: source(1))
    #expect(queue.nextItems() == 7)
    #expect(queue.popFirst()?.element == 20)
    #expect(queue.nextItems() == nil)
  }

  @Test func `a source that was passed over keeps its order and has the next turn`() {
    var queue = Queue(turn: .oneElement)
    for element in [10, 11, 12] { queue.append(element, items: 1, of: source(1)) }
    for element in [20, 21] { queue.append(element, items: 1, of: source(2)) }
    queue.append(30, items: 1, of: source(3))
    #expect(queue.count == 6)
    var asked: [Int] = []
    let taken = queue.take { element in
      asked.append(element)
      return element == 11 ? .pass : .take
    }
    #expect(asked == [10, 20, 30, 11, 21])
    #expect(taken == [10, 20, 30, 21])
    queue.append(22, items: 1, of: source(2))
    let next = queue.take { $0 == 12 ? .end : .take }
    #expect(next == [11, 22])
    let last = queue.take { _ in .take }
    #expect(last == [12])
    #expect(queue.isEmpty)
  }

  @Test func `a source that does not fit beside another one has its turn next`() {
    // A batch has room for 4. The first source has large elements, the second one small ones.
    var queue = Queue(turn: .oneElement)
    for _ in 0..<3 { queue.append(4, items: 1, of: source(1)) }
    for _ in 0..<6 { queue.append(1, items: 1, of: source(2)) }
    var batches: [[Int]] = []
    while !queue.isEmpty {
      var room = 4
      batches.append(
        queue.take { size in
          guard size <= room else { return .pass }
          room -= size
          return .take
        })
    }
    #expect(batches == [[4], [1, 1, 1, 1], [4], [1, 1], [4]])
  }

  @Test func `elements are removed wherever they wait`() {
    var queue = Queue(turn: .oneElement)
    for element in 0..<9 { queue.append(element, items: 1, of: source(UInt64(element % 3))) }
    let removed = queue.remove { $0 % 3 == 1 || $0 == 3 }
    #expect(removed == [3, 1, 4, 7])
    let none = queue.remove { $0 > 100 }
    #expect(none.isEmpty)
    let rest = queue.take { _ in .take }
    #expect(rest == [0, 2, 6, 5, 8])
    queue.append(9, items: 1, of: source(1))
    #expect(queue.popFirst()?.element == 9)
  }

  @Test func `what was taken is not kept`() {
    final class Item {}
    weak var kept: Item?
    var queue = TurnQueue<Item>(turn: Turn(items: 1, time: .seconds(1)))
    do {
      let item = Item()
      kept = item
      queue.append(item, items: 1, of: .server)
      queue.append(Item(), items: 1, of: .server)
    }
    #expect(kept != nil)
    _ = queue.popFirst()
    #expect(kept == nil)
  }

  @Test func `bulk work gets one item for sixteen interactive ones, whatever the chunk sizes`() {
    for (interactive, bulk) in [(1, 1), (1, 32), (32, 1), (7, 5), (32, 32)] {
      var scheduler = WorkScheduler()
      var taken: [WorkPriority: Int] = [:]
      for _ in 0..<100_000 {
        switch scheduler.next(interactive: interactive, bulk: bulk) {
        case .interactive: taken[.interactive, default: 0] += interactive
        case .bulk: taken[.bulk, default: 0] += bulk
        case nil: Issue.record("something waits")
        }
      }
      let share = Double(taken[.interactive] ?? 0) / Double(taken[.bulk] ?? 0)
      // A turn comes once the interactive items are there, so a large interactive chunk gives more.
      #expect(share >= 16, "\(interactive), \(bulk)")
      #expect(share <= Double(16 + interactive), "\(interactive), \(bulk)")
    }
  }

  @Test func `without the other one, each goes on`() {
    var scheduler = WorkScheduler()
    #expect(scheduler.next(interactive: nil, bulk: nil) == nil)
    for _ in 0..<100 { #expect(scheduler.next(interactive: nil, bulk: 1) == .bulk) }
    for _ in 0..<100 { #expect(scheduler.next(interactive: 1, bulk: nil) == .interactive) }
    // What was done while no bulk work waited is not owed to it.
    for _ in 0..<16 { #expect(scheduler.next(interactive: 1, bulk: 1) == .interactive) }
    #expect(scheduler.next(interactive: 1, bulk: 1) == .bulk)
  }

  @Test func `scheduling never overflows`() {
    var scheduler = WorkScheduler()
    #expect(scheduler.next(interactive: .max, bulk: .max) == .interactive)
    #expect(scheduler.next(interactive: nil, bulk: .max) == .bulk)
    #expect(scheduler.next(interactive: .max, bulk: 1) == .interactive)
    #expect(scheduler.next(interactive: .max, bulk: 1) == .bulk)
  }

  @Test func `chunks cover a batch once, in order, within their bounds`() {
    var random = SeededRandom(for: "pieces")
    for _ in 0..<5_000 {
      let size = ChunkSize(
        minimumItems: Int.random(in: 1...10, using: &random),
        maximumItems: Int.random(in: 1...40, using: &random),
        maximumWeight: Int.random(in: 0...300, using: &random))
      let weights = (0..<Int.random(in: 0...200, using: &random)).map { _ in
        Int.random(in: 0...100, using: &random)
      }
      let chunks = size.chunks(
        weights: weights, workers: Int.random(in: 1...8, using: &random))
      #expect(chunks.flatMap(Array.init) == Array(weights.indices))
      for chunk in chunks {
        #expect((1...size.maximumItems).contains(chunk.count))
        #expect(chunk.count == 1 || weights[chunk].reduce(0, +) <= size.maximumWeight)
      }
    }
  }

  @Test(
    arguments: [
      (1, 1, [1]), (15, 2, [15]), (16, 2, [8, 8]), (16, 1, [16]), (33, 1, [16, 17]),
      (64, 2, [32, 32]), (65, 2, [21, 22, 22]), (100, 4, [25, 25, 25, 25]),
    ] as [(Int, Int, [Int])])
  func `a batch is shared evenly when that is worth it`(
    count: Int, workers: Int, chunks: [Int]
  ) {
    let size = ChunkSize(minimumItems: 8, maximumItems: 32)
    let weights = Array(repeating: 4_000, count: count)
    #expect(size.chunks(weights: weights, workers: workers).map(\.count) == chunks)
  }
}
