import EntitlementService
import EntitlementStore
import Logging
import StoreConformance
import Synchronization
import Testing

@Suite("The conversion of stored payloads, in the background", .timeLimit(.minutes(1)))
struct PayloadConverterTests {
  /// Answers with given steps, each of which takes a time.
  private final class SteppingStore: ForwardingStore {
    let base: any EntitlementStore
    private let steps: Mutex<[Result<PayloadConversionStep, StoreError>]>
    private let takes: @Sendable () -> Void

    init(
      _ base: any EntitlementStore, _ steps: [Result<PayloadConversionStep, StoreError>],
      takes: @escaping @Sendable () -> Void
    ) {
      self.base = base
      self.steps = Mutex(steps)
      self.takes = takes
    }

    var left: Int { steps.withLock(\.count) }

    func convertPayloads(limit: Int) async throws(StoreError) -> PayloadConversionStep {
      takes()
      return try steps.withLock { $0.removeFirst() }.get()
    }
  }

  private static let stepTime = Duration.milliseconds(10)

  @Test("After a step it rests for four times the step; when nothing is left, for a minute")
  func pauses() async throws {
    try await ServiceBench.run { bench async throws in
      let timer = MovableTimer()
      let store = SteppingStore(
        bench.store,
        [
          .success(.converted(payloads: 200, savedBytes: 90_000)),
          .success(.converted(payloads: 7, savedBytes: 3_000)), .success(.complete),
          .failure(StoreError(.unavailable, "away")), .success(.elsewhere), .success(.complete),
        ]
      ) { timer.advance(by: Self.stepTime) }
      let converter = PayloadConverter(
        store: store, timer: timer.timer, logger: bench.log.logger)
      let task = Task { await converter.run() }
      await timer.sleepersBegun(1)
      #expect(store.left == 6, "nodes of the former version may still be served")
      timer.advance(by: PayloadConverter.firstPause)
      for left in [5, 4] {
        await timer.sleepersBegun(1)
        #expect(store.left == left)
        timer.advance(by: Self.stepTime * PayloadConverter.pauseFactor - .milliseconds(1))
        #expect(store.left == left)
        timer.advance(by: .milliseconds(1))
      }
      for left in [3, 2, 1] {
        await timer.sleepersBegun(1)
        #expect(store.left == left)
        timer.advance(by: PayloadConverter.interval)
      }
      await timer.sleepersBegun(1)
      #expect(store.left == 0)
      #expect(converter.values.map(\.value) == [207])
      #expect(bench.log.lines(at: .info).count == 2, "its begin and its end")
      #expect(bench.log.lines(at: .warning).count == 1)
      task.cancel()
      await task.value
    }
  }
}
