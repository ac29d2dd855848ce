import EntitlementStore
import Logging
import Synchronization
import Testing

@Suite("The log of a full store")
struct StorageAlarmTests {
  /// Keeps the events.
  private struct Recorder: LogHandler {
    let lines: @Sendable (String) -> Void
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.trace

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
      get { metadata[key] }
      set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
      let writes = event.metadata?["writes"].map { " (\($0))" } ?? ""
      lines("\(event.level): \(event.message)\(writes)")
    }
  }

  @Test func `it tells of the first write, each minute, and when there is room again`() {
    let lines = Mutex<[String]>([])
    let time = Mutex(ContinuousClock.now)
    let logger = Logger(label: "test") { _ in
      Recorder(lines: { line in lines.withLock { $0.append(line) } })
    }
    let alarm = StorageAlarm(logger: logger, now: { time.withLock(\.self) })
    func failed(_ code: StoreError.Code) {
      alarm.note(Result<Int, StoreError>.failure(StoreError(code, "reason")))
    }
    func told() -> [String] { lines.withLock { exchange(&$0, with: []) } }

    alarm.note(Result<Int, StoreError>.success(1))
    failed(.unavailable)
    #expect(told() == [])
    failed(.full)
    #expect(told() == ["error: the store is full: writes are refused (1)"])
    time.withLock { $0 += .seconds(59) }
    failed(.full)
    #expect(told() == [])
    time.withLock { $0 += .seconds(1) }
    failed(.full)
    #expect(told() == ["error: the store is full: writes are refused (2)"])
    alarm.note(Result<Int, StoreError>.success(1))
    alarm.note(Result<Int, StoreError>.success(1))
    #expect(told() == ["notice: the store can be written again"])
    failed(.full)
    #expect(told() == ["error: the store is full: writes are refused (1)"])
  }
}
