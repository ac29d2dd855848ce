import EntitlementDomain
import Glibc
import NIOCore
import RPCClient
import Wire

/// Counts and checks the results of the calls of one thread. Used on the event loop of the thread.
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

  /// Returns the counts since the last call, and resets them.
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
      // A correct server never returns these codes, so they are faults even when answers are not
      // compared.
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

extension RPCClientError {
  /// The code in reports.
  var loadCode: String {
    switch code {
    case .unreachable: "UNREACHABLE"
    case .connectionClosed: "CONNECTION_CLOSED"
    case .clientClosed: "CLIENT_CLOSED"
    case .status(let code): code.name
    }
  }

  /// Whether the server answered with an error.
  var isRefusal: Bool {
    switch code {
    case .unreachable, .connectionClosed, .clientClosed, .status(.deadlineExceeded): false
    case .status: true
    }
  }

  /// Whether a correct server never returns this error to our calls, under any load.
  var isFault: Bool {
    guard case .status(let code) = code else { return false }
    return switch code {
    case .ok, .cancelled, .deadlineExceeded, .resourceExhausted, .aborted, .unavailable: false
    case .unknown, .invalidArgument, .notFound, .alreadyExists, .permissionDenied,
      .failedPrecondition, .outOfRange, .unimplemented, .internal, .dataLoss, .unauthenticated:
      true
    }
  }
}

/// Converts moments of the monotonic clock to wall clock time, without a system call.
struct WallClock: Sendable {
  private let anchor = NIODeadline.now()
  private let anchorMilliseconds: Int64

  init() {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    anchorMilliseconds = Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000
  }

  func moment(_ deadline: NIODeadline) -> Milliseconds {
    Milliseconds(anchorMilliseconds + (deadline - anchor).nanoseconds / 1_000_000)
  }
}
