import EntitlementDomain
import Framing
package import Logging
package import NIOCore
package import NIOHTTP1
package import RPCServer
import Synchronization
import Wire

/// What the App Store reaches: `POST /apple/notifications`, or the same with the bundle id of the only
/// app whose notifications are taken there. Callers are not identified; what counts is what Apple
/// signed.
package struct WebhookSite: HTTPSite {
  package let kind = CallFront.notifications

  private static let path = "/apple/notifications"

  private let budget: WebhookBudget
  private let proxies: TrustedProxies
  private let questions: NotificationQuestions

  /// - Parameters:
  ///   - trustedProxies: Whose word about the addresses of clients is believed.
  ///   - hasApp: Whether the catalog in force has the app.
  ///   - knowsSigner: Whether a signed payload names a signer of which another payload was verified. It is
  ///     asked of everything that is posted.
  package init(
    limits: WebhookLimits = WebhookLimits(), trustedProxies: [AddressBlock] = [], logger: Logger,
    hasApp: @escaping @Sendable (_ bundleID: String) -> Bool,
    knowsSigner: @escaping @Sendable (_ payload: String) -> Bool
  ) {
    budget = WebhookBudget(limits, logger: logger)
    proxies = TrustedProxies(blocks: trustedProxies)
    questions = NotificationQuestions(hasApp: hasApp, knowsSigner: knowsSigner)
  }

  package func route(_ head: HTTPRequestHead, now: NIODeadline) -> HTTPRoute {
    let path = head.target.path
    if path == "/healthz" { return HealthCheck.live(head) }
    guard path.hasPrefix(Self.path) else { return .answer(.notFound) }
    let rest = path.dropFirst(Self.path.count)
    // Bundle ids have letters, digits, hyphens and periods, and need no encoding.
    guard rest.isEmpty || rest.first == "/" && !rest.dropFirst().contains("/"),
      rest.utf8.count <= 256
    else { return .answer(.notFound) }
    guard head.method == .POST else { return .answer(.notAllowed("POST")) }
    let app = rest.dropFirst()
    return .unary(
      NotificationPost(
        bundleID: app.isEmpty ? nil : String(app), forwarded: head.headers[TrustedProxies.field],
        proxies: proxies, budget: budget, questions: questions))
  }

  package func answer(to problem: RequestProblem) -> HTTPAnswer {
    Self.answer(to: problem)
  }

  static func answer(to problem: RequestProblem) -> HTTPAnswer {
    problem.httpStatus == .serviceUnavailable
      ? later(problem.text) : HTTPAnswer(problem.httpStatus, text: problem.text)
  }

  /// The App Store repeats what is not answered with 200 (after 1, 12, 24, 48 and 72 hours).
  static func later(_ text: String) -> HTTPAnswer {
    HTTPAnswer(
      .serviceUnavailable, text: text,
      fields: [HTTPAnswer.retryAfter(WebhookLimits.retryDelay)])
  }
}

/// What the service knows.
private struct NotificationQuestions: Sendable {
  let hasApp: @Sendable (_ bundleID: String) -> Bool
  let knowsSigner: @Sendable (_ payload: String) -> Bool
}

/// One notification: a call of SubmitNotification.
private final class NotificationPost: UnaryTranslation {
  /// The app of the path; nil: any app of the catalog.
  private let bundleID: String?
  private let forwarded: [String]
  private let proxies: TrustedProxies
  private let budget: WebhookBudget
  private let questions: NotificationQuestions
  /// Nil until the body is read.
  private let post = Mutex<WebhookBudget.Post?>(nil)

  init(
    bundleID: String?, forwarded: [String], proxies: TrustedProxies, budget: WebhookBudget,
    questions: NotificationQuestions
  ) {
    self.bundleID = bundleID
    self.forwarded = forwarded
    self.proxies = proxies
    self.budget = budget
    self.questions = questions
  }

  private static let otherBody = "the body is not {\"signedPayload\": \"…\"}"

  func call(
    from body: ByteBuffer?, peer: RPCPeer, now: NIODeadline
  ) throws(HTTPAnswer) -> FramedCall {
    let body = body ?? ByteBuffer()
    switch NotificationBody(body) {
    case .versionOne(let detail): throw HTTPAnswer(.badRequest, text: detail ?? Self.otherBody)
    case .other(let detail): throw refusal(detail ?? Self.otherBody)
    case .signed(let payload):
      let post = WebhookBudget.Post(
        client: proxies.client(
          peer: peer.address?.ipAddress.flatMap { ClientAddress($0) }, forwarded: forwarded),
        isOfKnownSigner: body.readableBytes <= WebhookLimits.usualLength
          && questions.knowsSigner(payload),
        length: body.readableBytes)
      self.post.withLock { $0 = post }
      guard budget.admits(post, now: now) else { throw putOff("too many notifications") }
      let request = SubmitNotificationRequest(
        signedPayload: payload, bundleID: bundleID.map { BundleID($0) })
      guard let encoded = try? request.encoded() else {
        throw refusal("the signed payload cannot be read")
      }
      return FramedCall(WireMethods.submitNotification, payload: encoded)
    }
  }

  func answer(to response: ResponseEnvelope, now: NIODeadline) -> HTTPAnswer {
    if let status = response.status {
      return status.code == .invalidArgument
        ? refusal("the signed payload cannot be read")
        : WebhookSite.later("the notification cannot be stored now")
    }
    guard let result = try? SubmitNotificationResponse.decode(from: response.payload) else {
      return WebhookSite.later("the notification cannot be stored now")
    }
    switch result.verdict {
    case .ok:
      return HTTPAnswer(.ok, text: result.isDuplicate ? "known" : "stored")
    case .retryable:
      return WebhookSite.later("the notification cannot be verified now")
    case .wrongApp:
      failed(now: now)
      // Without its app in the catalog, an operator has to act, and it is accepted then.
      if let bundleID, questions.hasApp(bundleID) {
        return refusal("the notification belongs to another app than the path")
      }
      return putOff("the service does not know the app of the notification")
    case .wrongEnvironment, .appNotPermitted:
      failed(now: now)
      return putOff("the service does not accept the environment of the notification")
    case .unrecognized, .malformed, .unsupportedAlgorithm, .invalidCertificate:
      // Refused before anything was computed. It costs its connection only, so that garbage does not turn
      // the App Store away. What takes a signer's name in vain costs the rate of those.
      if let post = post.withLock({ $0 }), post.isOfKnownSigner { budget.failed(post, now: now) }
      let detail = result.detail.map { ": \($0)" } ?? ""
      return refusal("the notification does not verify: \(result.verdict)\(detail)")
    case .untrustedChain, .certificateExpired, .certificateRevoked,
      .invalidSignature, .wrongDevice:
      failed(now: now)
      return refusal("the notification does not verify: \(result.verdict)")
    }
  }

  func answer(to problem: RequestProblem) -> HTTPAnswer { WebhookSite.answer(to: problem) }

  private func failed(now: NIODeadline) {
    if let post = post.withLock({ $0 }) { budget.failed(post, now: now) }
  }

  /// Signed by Apple, for another app or environment: whoever has an app of their own can post that, so it
  /// costs the connection as much as a refusal.
  private func putOff(_ text: String) -> HTTPAnswer {
    var answer = WebhookSite.later(text)
    answer.penalty = WebhookLimits.failurePenalty
    return answer
  }

  /// Costs the connection something: the App Store sends nothing that is refused.
  private func refusal(_ text: String) -> HTTPAnswer {
    var answer = HTTPAnswer(.badRequest, text: text)
    answer.penalty = WebhookLimits.failurePenalty
    return answer
  }
}
