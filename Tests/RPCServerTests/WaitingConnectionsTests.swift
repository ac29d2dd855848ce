import NIOCore
import NIOEmbedded
import RPCServer
import TestSupport
import Testing

@Suite("Connections that give way", .timeLimit(.minutes(1)))
struct WaitingConnectionsTests {
  private let waiting = WaitingConnections()
  private let channels = (0..<5).map { _ in EmbeddedChannel() }

  /// The place of a channel in ``channels``.
  private func index(of channel: (any Channel)?) -> Int? {
    channels.firstIndex { $0 === channel }
  }

  private func takeAll() -> [Int] {
    var taken: [Int] = []
    while let index = index(of: waiting.takeOldest()) { taken.append(index) }
    return taken
  }

  @Test("They give way in the order in which they began to wait")
  func order() {
    #expect(waiting.takeOldest() == nil)
    for channel in channels { _ = waiting.begin(channel) }
    #expect(waiting.count == 5)
    #expect(takeAll() == [0, 1, 2, 3, 4])
    #expect(waiting.count == 0)
    // An empty list is used again.
    _ = waiting.begin(channels[3])
    _ = waiting.begin(channels[1])
    #expect(takeAll() == [3, 1])
  }

  @Test("One that no longer waits keeps its place", arguments: 0..<5)
  func ended(number: Int) {
    let waits = channels.map(waiting.begin)
    waiting.end(waits[number])
    waiting.end(waits[number])
    #expect(waiting.count == 4)
    #expect(takeAll() == (0..<5).filter { $0 != number })
  }

  @Test("One that waits again is the newest")
  func again() {
    let waits = channels.map(waiting.begin)
    waiting.end(waits[0])
    _ = waiting.begin(channels[0])
    // The earlier wait is over, and does not end the later one.
    waiting.end(waits[0])
    #expect(takeAll() == [1, 2, 3, 4, 0])
  }

  @Test("The end of a wait after its connection was taken changes nothing")
  func taken() {
    let waits = channels.map(waiting.begin)
    #expect(index(of: waiting.takeOldest()) == 0)
    waiting.end(waits[0])
    #expect(waiting.count == 4)
    #expect(takeAll() == [1, 2, 3, 4])
  }

  @Test("None gives way while no more wait than may")
  func limit() {
    for channel in channels.prefix(3) { _ = waiting.begin(channel) }
    #expect(waiting.takeOldest(beyond: 3) == nil)
    #expect(index(of: waiting.takeOldest(beyond: 2)) == 0)
    #expect(waiting.takeOldest(beyond: 2) == nil)
    #expect(waiting.count == 2)
  }

  @Test("Random waits, ends and evictions are those of a plain array", arguments: 1...20)
  func random(seed: Int) {
    var random = SeededRandom(seed: UInt64(seed))
    var expected: [(wait: WaitingConnections.Wait, channel: Int)] = []
    var over: [WaitingConnections.Wait] = []
    for _ in 0..<1_000 {
      switch Int.random(in: 0..<8, using: &random) {
      case 0..<4:
        let channel = Int.random(in: channels.indices, using: &random)
        expected.append((waiting.begin(channels[channel]), channel))
      case 4..<6:
        guard let place = expected.indices.randomElement(using: &random) else { continue }
        over.append(expected.remove(at: place).wait)
        waiting.end(over[over.count - 1])
      case 6:
        #expect(index(of: waiting.takeOldest()) == expected.first?.channel)
        if !expected.isEmpty { over.append(expected.removeFirst().wait) }
      default:
        if let wait = over.randomElement(using: &random) { waiting.end(wait) }
      }
      #expect(waiting.count == expected.count)
    }
    #expect(takeAll() == expected.map(\.channel))
  }

  @Test("Threads begin and end waits while others take them")
  func threads() async {
    let channel = NIOAsyncTestingChannel()
    let taken = await withTaskGroup(of: Int.self) { [waiting] group in
      for _ in 0..<4 {
        group.addTask {
          var taken = 0
          for round in 0..<5_000 {
            let wait = waiting.begin(channel)
            if round.isMultiple(of: 3) { waiting.end(wait) }
            if round.isMultiple(of: 2), waiting.takeOldest() != nil { taken += 1 }
          }
          return taken
        }
      }
      return await group.reduce(0, +)
    }
    var left = 0
    while waiting.takeOldest() != nil { left += 1 }
    // Each wait was ended or taken: those that were taken before their end count once.
    #expect((4 * 3_333...4 * 5_000).contains(taken + left))
    #expect(waiting.count == 0)
  }

  @Test("Of a hundred thousand, each gives way at once, and a long list ends without recursion")
  func many() {
    for _ in 0..<100_000 { _ = waiting.begin(channels[0]) }
    for _ in 0..<100_000 where waiting.takeOldest() == nil { Issue.record("one is missing") }
    #expect(waiting.count == 0)
    let list = WaitingConnections()
    for _ in 0..<100_000 { _ = list.begin(channels[0]) }
    #expect(list.count == 100_000)
  }
}
