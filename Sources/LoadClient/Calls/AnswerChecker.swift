import Dispatch
import EntitlementDomain
import NIOCore
import StoreSimulator
import Wire

/// Checks the answers of one thread, on its event loop.
///
/// The state of a customer is compared in full when it is new or has changed, elsewhere; an answer
/// that says the same as one before it is known by its digest.
final class AnswerChecker {
  /// Which answers are checked.
  enum Extent: String, CaseIterable, Sendable {
    case all
    /// One in ``AnswerChecker/sampling``.
    case sampled
    case none
  }

  static let sampling = 100
  /// Customers whose answers are remembered, for each thread: some 80 bytes each. Beyond it all are
  /// forgotten.
  private static let remembered = 1_000_000

  /// What an answer is about: a state, or one entitlement.
  private struct Subject: Hashable, Sendable {
    let index: Int
    var entitlement: EntitlementID?
  }

  private struct Remembered {
    var digest: Int
    /// Nil: for ever, or not known yet.
    var validUntil: Milliseconds?
  }

  private let extent: Extent
  private let verifier: AnswerVerifier
  private let eventLoop: any EventLoop
  private let report: (_ fault: String) -> Void
  private var answers: [Subject: Remembered] = [:]
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

  /// - Returns: whether it is checked.
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

  /// - Returns: what is wrong, as far as it is known at once.
  private func fault(
    in answer: ByteBuffer, to call: LoadCall, at time: KnownCustomers.CallTime
  ) throws(MessageError) -> String? {
    switch call.expectation {
    case .state(let index):
      checkState(answer, ofCustomer: index, call.kind, at: time)
      return nil
    case .states(let indices):
      guard let results = AnswerContent.results(of: answer), results.count == indices.count else {
        return "another number of states than of customers"
      }
      for (result, index) in zip(results, indices) {
        checkState(result, ofCustomer: index, call.kind, at: time)
      }
      return nil
    case .stranger(let account):
      guard case .state(let state) = try GetCustomerStateResponse.decode(from: answer) else {
        return "NOT_MODIFIED was answered, and not asked for"
      }
      return verifier.known.fault(in: state, ofStranger: account, at: time)
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

  /// Compares, unless the subject was answered alike before.
  private func checkLater(
    _ subject: Subject, digest: Int?, _ kind: CallKind, at time: KnownCustomers.CallTime,
    _ compare: @escaping @Sendable (AnswerVerifier) -> AnswerVerifier.Outcome
  ) {
    if let known = answers[subject], known.digest == digest,
      known.validUntil.map({ $0 > time.earliest }) ?? true
    {
      return
    }
    guard waiting < AnswerVerifier.capacity else {
      // Rather late than unchecked.
      return checked(compare(verifier), subject, digest, kind)
    }
    // The same answer need not be compared again meanwhile.
    remember(subject, digest, validUntil: nil)
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
      answers[subject] = nil
      report("\(kind.method): \(fault)")
    } else {
      remember(subject, digest, validUntil: outcome.validUntil)
    }
  }

  private func remember(_ subject: Subject, _ digest: Int?, validUntil: Milliseconds?) {
    guard let digest else { return }
    if answers.count >= Self.remembered { answers.removeAll(keepingCapacity: true) }
    answers[subject] = Remembered(digest: digest, validUntil: validUntil)
  }
}
