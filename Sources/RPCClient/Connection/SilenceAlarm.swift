/// Ends a stream whose server has said nothing for too long: a peer that went away without a word
/// would otherwise be waited for until TCP gives up, which takes hours.
final class SilenceAlarm: Sendable {
  private let task: Task<Void, Never>

  /// - Parameter limit: how long the stream may be silent.
  init(of queue: MessageQueue, limit: Duration) {
    task = Task {
      while true {
        let rest = limit - queue.silence
        if rest <= .zero { return queue.end(.silent(limit)) }
        do {
          try await Task.sleep(for: rest)
        } catch {
          return
        }
      }
    }
  }

  deinit {
    task.cancel()
  }
}
