import AppStorePayloads
import EntitlementDomain
import StoreSimulator

// The App Store Server API: authentication, rate limits, and the endpoint that answers.
extension Simulation {
  /// Answers any request: of the API, or of the control interface.
  package func answer(_ request: StoreRequest) async -> StoreAnswer {
    var path = request.path[...]
    if path.first == "control" { return await control(request, path.dropFirst()) }
    var isOtherEnvironment = false
    if let prefix = path.first, prefix != "inApps" {
      guard
        let named = StoreEnvironment.allCases.first(where: { $0.rawValue.lowercased() == prefix }),
        named == .production || named == .sandbox
      else { return .text("Not Found", status: 404) }
      isOtherEnvironment = named != environment
      path = path.dropFirst()
    }
    guard path.first == "inApps" else { return .text("Not Found", status: 404) }
    do {
      try catchUp()
    } catch {
      return SimulatedAPIError.unknown.answer
    }
    let fault = faults.nextRequest("/" + path.joined(separator: "/"), at: world.now)
    var answer: StoreAnswer
    switch fault {
    case .cut:
      answer = .empty
      answer.isCut = true
    case .unauthorized: answer = Self.unauthenticated
    case .slow(let delay):
      answer = judge(request, path.dropFirst(), isOtherEnvironment, error: nil)
      answer.delay = delay
    case .error(let code):
      answer = judge(request, path.dropFirst(), isOtherEnvironment, error: SimulatedAPIError(code))
    case .wrongEnvironment: answer = judge(request, path.dropFirst(), true, error: nil)
    case nil: answer = judge(request, path.dropFirst(), isOtherEnvironment, error: nil)
    }
    return answer
  }

  /// Not JSON, as Apple's.
  private static let unauthenticated = StoreAnswer.text("Unauthenticated\n", status: 401)

  /// - Parameter error: the answer to a request that may be made.
  private func judge(
    _ request: StoreRequest, _ path: ArraySlice<String>, _ isOtherEnvironment: Bool,
    error: SimulatedAPIError?
  ) -> StoreAnswer {
    guard key.accepts(authorization: request.authorization, now: realNow) else {
      return Self.unauthenticated
    }
    guard let (endpoint, parameters) = StoreEndpoint.find(request.method, path) else {
      return .text("Not Found", status: 404)
    }
    if let next = rates.take(endpoint, now: realNow) {
      var answer = SimulatedAPIError.rateLimit.answer
      // An absolute time in milliseconds, unlike in RFC 9110.
      answer.fields = [("Retry-After", String(next.rawValue))]
      return answer
    }
    if !request.body.isEmpty, let type = request.mediaType, type != "application/json" {
      return .text("Unsupported Media Type", status: 415)
    }
    if let error {
      var answer = error.answer
      if error == .rateLimit {
        let retry = realNow.advanced(by: Milliseconds.secondsLength)
        answer.fields = [("Retry-After", String(retry.rawValue))]
      }
      return answer
    }
    do throws(SimulatedAPIError) {
      let call = StoreCall(
        request: request, parameters: parameters, isOtherEnvironment: isOtherEnvironment)
      return try respond(endpoint, call)
    } catch {
      return error.answer
    }
  }

  private func respond(
    _ endpoint: StoreEndpoint, _ call: StoreCall
  ) throws(SimulatedAPIError) -> StoreAnswer {
    switch endpoint {
    case .transactionInfo: try transactionInfo(call)
    case .history: try history(call, isVersion1: false)
    case .historyVersion1: try history(call, isVersion1: true)
    case .statuses: try statuses(call)
    case .refundHistory: try refundHistory(call, isVersion1: false)
    case .refundHistoryVersion1: try refundHistory(call, isVersion1: true)
    case .orderLookup: try orderLookup(call)
    case .appTransaction: try appTransaction(call)
    case .finish: try finish(call)
    case .setToken: try setToken(call)
    case .consumption: try receiveConsumption(call)
    case .consumptionVersion1: try receiveConsumptionVersion1(call)
    case .extend: try extendRenewalDate(call)
    case .massExtend: try extendAll(call)
    case .massExtendStatus: try massExtensionStatus(call)
    case .testNotification: try requestTest(call)
    case .testNotificationStatus: try testStatus(call)
    case .notificationHistory: try notificationHistory(call)
    }
  }

  // MARK: Parts of answers

  /// The App Store signs each answer anew.
  func signed(_ payload: TransactionPayload) throws(SimulatedAPIError) -> String {
    var payload = payload
    payload.signedDate = world.now
    return try signed(payload.json)
  }

  func signed(_ payload: RenewalInfoPayload) throws(SimulatedAPIError) -> String {
    var payload = payload
    payload.signedDate = world.now
    return try signed(payload.json)
  }

  func signed(_ payload: AppTransactionPayload) throws(SimulatedAPIError) -> String {
    var payload = payload
    payload.signedDate = world.now
    return try signed(payload.json)
  }

  private func signed(_ json: [UInt8]) throws(SimulatedAPIError) -> String {
    do throws(SimulatorError) {
      return try authority.sign(payloadJSON: json)
    } catch {
      throw .unknown
    }
  }

  /// Puts the notifications of a request into the outbox, and has them sent soon.
  func announce(_ events: [WorldEvent]) throws(SimulatedAPIError) {
    do throws(SimulatorError) {
      try enqueue(events)
    } catch {
      throw .unknown
    }
    followWorld()
    let now = world.now
    Task { _ = try? await play(until: now) }
  }

  /// The app and the environment. The app Apple id is known in Production only.
  func writeApp(to writer: inout JSONObjectWriter) {
    writer.set("environment", environment.rawValue)
    writer.set("bundleId", SimulatedApp.bundleID.rawValue)
    if environment == .production { writer.set("appAppleId", SimulatedApp.appAppleID) }
  }
}

/// A request to an endpoint.
struct StoreCall: Sendable {
  let request: StoreRequest
  /// Of the path.
  let parameters: [String]
  /// Whether it was sent to the host of the other environment.
  let isOtherEnvironment: Bool

  // Members of the body. Each of another type is the given error, and a body that is no object a
  // bad request.

  func text(_ name: StaticString, or error: SimulatedAPIError) throws(SimulatedAPIError) -> String?
  {
    let fields = try fields()
    do throws(PayloadError) { return try fields.text(name) } catch _ { throw error }
  }

  func integer(_ name: StaticString, or error: SimulatedAPIError) throws(SimulatedAPIError)
    -> Int64?
  {
    let fields = try fields()
    do throws(PayloadError) { return try fields.integer(name) } catch _ { throw error }
  }

  func boolean(_ name: StaticString, or error: SimulatedAPIError) throws(SimulatedAPIError) -> Bool?
  {
    let fields = try fields()
    do throws(PayloadError) { return try fields.boolean(name) } catch _ { throw error }
  }

  func texts(_ name: StaticString, or error: SimulatedAPIError) throws(SimulatedAPIError)
    -> [String]?
  {
    let fields = try fields()
    do throws(PayloadError) { return try fields.texts(name) } catch _ { throw error }
  }

  private func fields() throws(SimulatedAPIError) -> PayloadFields {
    do throws(PayloadError) {
      return try PayloadFields(json: request.body)
    } catch {
      throw .badRequest
    }
  }

  /// Whether a text can be the id of a transaction or of an app transaction.
  static func isID(_ text: String) -> Bool {
    (1...20).contains(text.utf8.count)
      && text.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
  }
}
