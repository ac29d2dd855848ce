import TestSupport
import Testing

@testable import Verification

@Suite("Queues, scheduling and chunks")
struct WorkQueueTests {
  @Test func `a queue is first in, first out, whatever the order of calls`() {
    var random = SeededRandom(for: "queue")
    var queue = WorkQueue<Int>()
    var model: [Int] = []
    var next = 0
    for _ in 0..<20_000 {
      if Int.random(in: 0..<5, using: &random) < 2 {
        let added = next..<next + Int.random(in: 0..<4, using: &random)
        next = added.upperBound
        queue.append(contentsOf: added)
        model += added
      } else {
        #expect(queue.popFirst() == model.first)
        model = Array(model.dropFirst())
      }
      #expect(queue.first == model.first)
    }
  }

  @Test func `what was taken is not kept`() {
    final class Item {}
    weak var kept: Item?
    var queue = WorkQueue<Item>()
    do {
      let item = Item()
      kept = item
      queue.append(contentsOf: [item, Item(), Item(), Item(), Item()])
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
