import NIOCore
import RPCClient
import Wire

/// Counts and checks what became of the calls of one thread. On its event loop.
final class CallRecorder {
  let verifier: AnswerVerifier
  var tally = Tally()
  private let clock: WallClock
  private var checker: AnswerChecker?

  init(_ plan: RunPlan, thread: Int, on eventLoop: any EventLoop, clock: WallClock) {
    self.clock = clock
    verifier = AnswerVerifier(known: KnownCustomers(customers: plan.calls.customers))
    checker = AnswerChecker(
      plan.checks, verifier, on: eventLoop, seed: plan.calls.seed &+ UInt64(thread)
    ) { [weak self] fault in self?.tally.foundWrong(fault) }
  }

  /// What was counted since the last time.
  func take() -> Tally { exchange(&tally, with: Tally()) }

  /// - Parameters:
  ///   - intended: when the call was meant to be made: from there on somebody waited.
  ///   - isMeasured: a call of the warm-up is checked, and not counted.
  func ended(
    _ call: LoadCall, _ result: Result<ByteBuffer, RPCClientError>, intended: NIODeadline,
    sent: NIODeadline, isMeasured: Bool
  ) {
    let now = NIODeadline.now()
    let nanoseconds = (now - intended).nanoseconds
    switch result {
    case .success(let answer):
      if isMeasured {
        tally.answered(
          call.kind, nanoseconds: nanoseconds, sentBytes: call.request.payload.readableBytes,
          receivedBytes: answer.readableBytes)
      }
      let isChecked =
        checker?.check(
          answer, to: call,
          at: KnownCustomers.CallTime(sent: clock.moment(sent), received: clock.moment(now)))
        ?? false
      if isChecked { tally.wasChecked() }
    case .failure(let error):
      guard isMeasured else { return }
      tally.failed(
        call.kind, code: error.loadCode, nanoseconds: error.isRefusal ? nil : nanoseconds)
    }
  }
}

extension RPCClientError {
  /// In a report.
  fileprivate var loadCode: String {
    switch code {
    case .unreachable: "UNREACHABLE"
    case .connectionClosed: "CONNECTION_CLOSED"
    case .clientClosed: "CLIENT_CLOSED"
    case .status(let code): code.name
    }
  }

  /// Whether the server answered: then it took no longer than an error takes.
  fileprivate var isRefusal: Bool {
    switch code {
    case .unreachable, .connectionClosed, .clientClosed, .status(.deadlineExceeded): false
    case .status: true
    }
  }
}
