import Dispatch
import EntitlementDomain
import NIOCore
import StoreSimulator
import Wire

/// Checks the answers of one thread, on its event loop.
///
/// The first answer about a customer, and each changed one, is compared in full on another thread.
/// A digest recognises an answer with the same content as an earlier one.
final class AnswerChecker {
  /// Which answers are checked.
  enum Extent: String, CaseIterable, Sendable {
    case all
    /// One answer in ``AnswerChecker/sampling``.
    case sampled
    case none
  }

  static let sampling = 100
  /// Maximum number of cached digests of each thread: about 80 bytes each. A full cache is emptied.
  private static let cacheCapacity = 1_000_000

  /// The subject of an answer: the state of a customer, or one of its entitlements.
  private struct Subject: Hashable, Sendable {
    let index: Int
    var entitlement: EntitlementID?
  }

  private struct CheckedAnswer {
    var digest: Int
    /// Nil when the answer never changes, or the comparison has not ended.
    var validUntil: Milliseconds?
  }

  private let extent: Extent
  private let verifier: AnswerVerifier
  private let eventLoop: any EventLoop
  private let report: (_ fault: String) -> Void
  private var checkedAnswers: [Subject: CheckedAnswer] = [:]
  private var waiting = 0
  private var generator: SeededGenerator

  /// - Parameter report: called on the event loop with each fault.
  init(
    _ extent: Extent, _ verifier: AnswerVerifier, on eventLoop: any EventLoop, seed: UInt64,
    report: @escaping (_ fault: String) -> Void
  ) {
    self.extent = extent
    self.verifier = verifier
    self.eventLoop = eventLoop
    self.report = report
    generator = SeededGenerator(seed: seed, label: "checks")
  }

  /// - Returns: whether the answer is checked.
  func check(
    _ answer: ByteBuffer, to call: LoadCall, at time: @autoclosure () -> KnownCustomers.CallTime
  ) -> Bool {
    switch extent {
    case .none: return false
    case .sampled: guard generator.number(below: Self.sampling) == 0 else { return false }
    case .all: break
    }
    do throws(MessageError) {
      if let fault = try fault(in: answer, to: call, at: time()) {
        report("\(call.kind.method): \(fault)")
      }
    } catch {
      report("\(call.kind.method): the answer cannot be read: \(error)")
    }
    return true
  }

  /// - Returns: a fault that is found at once. Later comparisons report their faults themselves.
  private func fault(
    in answer: ByteBuffer, to call: LoadCall, at time: KnownCustomers.CallTime
  ) throws(MessageError) -> String? {
    switch call.expectation {
    case .state(let index):
      checkState(answer, ofCustomer: index, call.kind, at: time)
      return nil
    case .states(let indices):
      guard let results = AnswerContent.results(of: answer), results.count == indices.count else {
        return "the number of states differs from the number of customers"
      }
      for (result, index) in zip(results, indices) {
        checkState(result, ofCustomer: index, call.kind, at: time)
      }
      return nil
    case .unknownAccount(let account):
      guard case .state(let state) = try GetCustomerStateResponse.decode(from: answer) else {
        return "NOT_MODIFIED was answered without being requested"
      }
      return verifier.known.fault(in: state, ofUnknownAccount: account, at: time)
    case .entitlement(let entitlement, let index):
      let check = try CheckEntitlementResponse.decode(from: answer)
      var hasher = Hasher()
      hasher.combine(check.isGranted)
      hasher.combine(check.until)
      hasher.combine(check.nextTransitionAt)
      let subject = Subject(index: index, entitlement: entitlement)
      checkLater(subject, digest: hasher.finalize(), call.kind, at: time) { verifier in
        verifier.outcome(of: check, about: entitlement, ofCustomer: index, at: time)
      }
      return nil
    case .accepted(let index, let payloads):
      return SubmissionFault.text(
        try SubmitSignedTransactionsResponse.decode(from: answer), payloads: payloads,
        ofCustomer: index, isKnown: false)
    case .known(let index, let payloads):
      return SubmissionFault.text(
        try SubmitSignedTransactionsResponse.decode(from: answer), payloads: payloads,
        ofCustomer: index, isKnown: true)
    case .notified(let index):
      return SubmissionFault.text(
        try SubmitNotificationResponse.decode(from: answer), ofCustomer: index)
    }
  }

  private func checkState(
    _ answer: ByteBuffer, ofCustomer index: Int, _ kind: CallKind,
    at time: KnownCustomers.CallTime
  ) {
    checkLater(
      Subject(index: index), digest: AnswerContent.digest(of: answer), kind, at: time
    ) { verifier in
      verifier.outcome(of: answer, ofCustomer: index, at: time)
    }
  }

  /// Compares the answer, unless an earlier answer about the subject had the same content.
  private func checkLater(
    _ subject: Subject, digest: Int?, _ kind: CallKind, at time: KnownCustomers.CallTime,
    _ compare: @escaping @Sendable (AnswerVerifier) -> AnswerVerifier.Outcome
  ) {
    if let known = checkedAnswers[subject], known.digest == digest,
      known.validUntil.map({ $0 > time.earliest }) ?? true
    {
      return
    }
    guard waiting < AnswerVerifier.capacity else {
      // The queue is full: compares here, which delays other calls but skips no check.
      return checked(compare(verifier), subject, digest, kind)
    }
    // Until the comparison ends, the same answer is not compared again.
    cache(subject, digest, validUntil: nil)
    waiting += 1
    let loopBound = NIOLoopBound(self, eventLoop: eventLoop)
    verifier.queue.async { [verifier, eventLoop] in
      let outcome = compare(verifier)
      eventLoop.execute {
        loopBound.value.waiting -= 1
        loopBound.value.checked(outcome, subject, digest, kind)
      }
    }
  }

  private func checked(
    _ outcome: AnswerVerifier.Outcome, _ subject: Subject, _ digest: Int?, _ kind: CallKind
  ) {
    if let fault = outcome.fault {
      checkedAnswers[subject] = nil
      report("\(kind.method): \(fault)")
    } else {
      cache(subject, digest, validUntil: outcome.validUntil)
    }
  }

  private func cache(_ subject: Subject, _ digest: Int?, validUntil: Milliseconds?) {
    guard let digest else { return }
    if checkedAnswers.count >= Self.cacheCapacity {
      checkedAnswers.removeAll(keepingCapacity: true)
    }
    checkedAnswers[subject] = CheckedAnswer(digest: digest, validUntil: validUntil)
  }
}

/// Compares states with the states that the simulator expects, on its own thread. A comparison
/// takes about 0.1 ms, which would add latency to other calls on the event loop.
struct AnswerVerifier: Sendable {
  /// Maximum number of queued comparisons of each thread: about a kilobyte each.
  static let capacity = 16_384

  let known: KnownCustomers
  let queue = DispatchQueue(label: "entitle-load.verifying")

  struct Outcome: Sendable {
    /// Nil when the answer is correct.
    let fault: String?
    /// Until when the same answer is correct; nil when it does not expire.
    let validUntil: Milliseconds?
  }

  func outcome(
    of answer: ByteBuffer, ofCustomer index: Int, at time: KnownCustomers.CallTime
  ) -> Outcome {
    do throws(MessageError) {
      guard case .state(let state) = try GetCustomerStateResponse.decode(from: answer) else {
        return Outcome(fault: "NOT_MODIFIED was answered without being requested", validUntil: nil)
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

  /// Waits for all queued comparisons.
  func drain() async {
    await withCheckedContinuation { continuation in
      queue.async { continuation.resume() }
    }
  }
}
