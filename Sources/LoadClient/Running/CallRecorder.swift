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

  func ended(
    _ planned: PlannedCall, _ result: Result<ByteBuffer, RPCClientError>, sent: NIODeadline
  ) {
    let now = NIODeadline.now()
    let call = planned.call
    let nanoseconds = (now - planned.intended).nanoseconds
    switch result {
    case .success(let answer):
      if planned.isMeasured {
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
      // Whatever is compared: no right server says so.
      if error.isFault { tally.foundWrong("\(call.kind.method) was answered \(error)") }
      guard planned.isMeasured else { return }
      if error.isRefusal {
        tally.refused(call.kind, code: error.loadCode, nanoseconds: nanoseconds)
      } else {
        tally.failed(call.kind, code: error.loadCode, nanoseconds: nanoseconds)
      }
    }
  }
}
