import Dispatch
import EntitlementDomain
import NIOCore
import Wire

/// Compares states with what the simulator knows, on a thread apart: that takes some 0.1 ms, which
/// would count as latency of other calls on the event loop.
struct AnswerVerifier: Sendable {
  /// Answers that may wait to be compared, for each thread: about a kilobyte each.
  static let capacity = 16_384

  let known: KnownCustomers
  let queue = DispatchQueue(label: "entitle-load.verifying")

  struct Outcome: Sendable {
    /// Nil when the state is as it must be.
    let fault: String?
    /// Until when the same state may be answered; nil: for ever.
    let validUntil: Milliseconds?
  }

  func outcome(
    of answer: ByteBuffer, ofCustomer index: Int, at time: KnownCustomers.CallTime
  ) -> Outcome {
    do throws(MessageError) {
      guard case .state(let state) = try GetCustomerStateResponse.decode(from: answer) else {
        return Outcome(fault: "NOT_MODIFIED was answered, and not asked for", validUntil: nil)
      }
      return Outcome(
        fault: known.fault(in: state, ofCustomer: index, at: time),
        validUntil: state.nextTransitionAt)
    } catch {
      return Outcome(fault: "the answer cannot be read: \(error)", validUntil: nil)
    }
  }

  func outcome(
    of answer: CheckEntitlementResponse, about entitlement: EntitlementID,
    ofCustomer index: Int, at time: KnownCustomers.CallTime
  ) -> Outcome {
    Outcome(
      fault: known.fault(in: answer, about: entitlement, ofCustomer: index, at: time),
      validUntil: answer.nextTransitionAt)
  }

  /// Waits for everything that was handed in before.
  func drain() async {
    await withCheckedContinuation { continuation in
      queue.async { continuation.resume() }
    }
  }
}
