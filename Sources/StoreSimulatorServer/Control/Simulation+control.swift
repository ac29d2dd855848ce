import AppStorePayloads
import EntitlementDomain
import StoreSimulator

// The control interface: what a developer does with the simulated App Store.
extension Simulation {
  func control(_ request: StoreRequest, _ path: ArraySlice<String>) async -> StoreAnswer {
    do {
      try catchUp()
      return .json(try await perform(request, Array(path)))
    } catch let refusal as WorldRefusal {
      let status =
        switch refusal.code {
        case .invalid: 400
        case .notFound: 404
        case .impossible: 409
        }
      return Self.refusal(refusal.description, status: status)
    } catch let error as PayloadError {
      return Self.refusal("the body is not valid: \(error.message)", status: 400)
    } catch is CancellationError {
      return Self.refusal("the simulator stops", status: 503)
    } catch {
      return Self.refusal("a payload could not be signed", status: 500)
    }
  }

  private static func refusal(_ text: String, status: Int) -> StoreAnswer {
    var writer = JSONObjectWriter()
    writer.set("error", text)
    return .json(writer, status: status)
  }

  private func perform(
    _ request: StoreRequest, _ path: [String]
  ) async throws -> JSONObjectWriter {
    let name = path.first ?? ""
    switch (request.method, name, path.count) {
    case ("GET", "clock", 1): return try await clockAnswer(request)
    case ("POST", "clock", 1): return try await changeClock(PayloadFields(json: request.body))
    case ("GET", "info", 1): return information
    case ("GET", "customers", 1): return try customers(request)
    case ("GET", "customers", 2): return describe(try world.index(of: path[1]))
    case ("GET", "consumption", 1): return consumptionAnswer()
    case ("GET", "faults", 1): return faultsAnswer()
    case ("POST", "faults", 1):
      try faults.add(FaultText.rule(of: PayloadFields(json: request.body), now: world.now))
      return faultsAnswer()
    case ("DELETE", "faults", 1):
      faults.removeAll()
      return faultsAnswer()
    case ("POST", _, 1): return try await act(name, try PayloadFields(json: request.body))
    default: throw WorldRefusal(.notFound, "there is no such request")
    }
  }

  // MARK: Actions

  private func act(_ name: String, _ fields: PayloadFields) async throws -> JSONObjectWriter {
    func text(_ name: StaticString) throws -> String {
      guard let text = try fields.identifier(name) else {
        throw WorldRefusal(.invalid, "\(name) is missing")
      }
      return text
    }
    let outcome: World.Outcome
    switch name {
    case "buy":
      outcome = try world.buy(
        ProductID(try text("productId")), by: try Self.name(fields.identifier("customer")),
        token: try Self.token(fields.identifier("appAccountToken")),
        offer: try Self.offer(fields))
    case "cancel": outcome = try world.cancel(try text("customer"))
    case "resume": outcome = try world.resume(try text("customer"))
    case "change":
      outcome = try world.changeProduct(
        of: try text("customer"), to: ProductID(try text("productId")))
    case "card":
      guard let works = try fields.boolean("works") else {
        throw WorldRefusal(.invalid, "works is missing")
      }
      outcome = try world.changeCard(of: try text("customer"), works: works)
    case "raise-price":
      guard let price = try fields.integer("price") else {
        throw WorldRefusal(.invalid, "price is missing")
      }
      outcome = try world.raisePrice(of: try text("customer"), to: price)
    case "consent": outcome = try world.consent(try text("customer"))
    case "share":
      outcome = try world.share(
        try text("customer"), with: try Self.name(fields.identifier("with")))
    case "unshare": outcome = try world.stopSharing(try text("customer"))
    case "refund": outcome = try world.refund(TransactionID(try text("transactionId")))
    case "refund-decline":
      outcome = try world.declineRefund(of: TransactionID(try text("transactionId")))
    case "refund-reverse":
      outcome = try world.reverseRefund(of: TransactionID(try text("transactionId")))
    case "request-consumption":
      outcome = try world.requestConsumption(
        of: TransactionID(try text("transactionId")),
        reason: try Self.reason(fields.identifier("reason")))
    default:
      throw WorldRefusal(.notFound, "there is no such request")
    }
    let before = outbox.lastNumber
    try enqueue(outcome.events)
    followWorld()
    _ = try await play(until: world.now)
    await notifying?.value
    return describe(outcome, after: before)
  }

  private static func reason(_ text: String?) throws -> String {
    let reasons = [
      "UNINTENDED_PURCHASE", "FULFILLMENT_ISSUE", "UNSATISFIED_WITH_PURCHASE", "LEGAL", "OTHER",
    ]
    guard let text else { return reasons[0] }
    guard reasons.contains(text) else {
      throw WorldRefusal(.invalid, "reason is one of \(reasons.joined(separator: ", "))")
    }
    return text
  }

  private static func name(_ text: String?) throws -> String? {
    guard let text else { return nil }
    guard (1...64).contains(text.utf8.count), text.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
    else {
      throw WorldRefusal(.invalid, "a customer's name has 1 to 64 characters of ASCII, no space")
    }
    return text
  }

  private static func token(_ text: String?) throws -> AppAccountToken? {
    guard let text else { return nil }
    guard isUUID(text) else { throw WorldRefusal(.invalid, "appAccountToken is no UUID") }
    return AppAccountToken(text.lowercased())
  }

  private static func offer(_ fields: PayloadFields) throws -> StoreOffer? {
    guard let text = try fields.identifier("offer") else { return nil }
    guard let kind = StoreOffer.Kind(rawValue: text) else {
      let kinds = StoreOffer.Kind.allCases.map(\.rawValue).joined(separator: ", ")
      throw WorldRefusal(.invalid, "offer is one of \(kinds)")
    }
    return StoreOffer(kind, identifier: try fields.identifier("offerId"))
  }

  // MARK: The clock

  private func clockObject() -> JSONObjectWriter {
    let now = clock.now(real: realNow)
    var writer = JSONObjectWriter()
    writer.set("now", now.rawValue)
    writer.set("time", now.exactRFC3339)
    writer.set("speed", number: "\(clock.speed)")
    writer.set("revision", Int64(clock.revision))
    writer.set("isReal", clock.isReal)
    return writer
  }

  private func clockAnswer(_ request: StoreRequest) async throws -> JSONObjectWriter {
    guard let text = request.values("after").first else { return clockObject() }
    let wait = request.values("waitMs").first.map { Int64($0) } ?? 30_000
    guard let known = Int(text), let wait, (0...StoreServerLimits.longPoll).contains(wait) else {
      throw WorldRefusal(
        .invalid, "after is a revision, waitMs 0 to \(StoreServerLimits.longPoll)")
    }
    await waiting.wait(after: known, for: .milliseconds(wait))
    return clockObject()
  }

  private func changeClock(_ fields: PayloadFields) async throws -> JSONObjectWriter {
    guard !clock.isReal else {
      throw WorldRefusal(.impossible, "the clock is the system's: storesim serve --clock virtual")
    }
    var tally = PlayTally()
    var target: Milliseconds?
    if let advance = try fields.integer("advanceMs") {
      guard advance >= 0 else {
        throw WorldRefusal(.invalid, "advanceMs must not be negative")
      }
      target = clock.now(real: realNow).advanced(by: advance)
    } else if let moment = try fields.moment("setMs") {
      guard moment >= clock.now(real: realNow) else {
        throw WorldRefusal(.impossible, "the clock never goes back")
      }
      target = moment
    } else {
      guard let text = try Self.speed(fields) else {
        throw WorldRefusal(.invalid, "one of advanceMs, setMs and speed is needed")
      }
      set(speed: text)
    }
    if let target { tally = try await set(clockTo: target) }
    await notifying?.value
    var writer = clockObject()
    writer.set("target", target?.rawValue)
    writer.set("isComplete", tally.isComplete)
    writer.set("events", Int64(tally.events))
    writer.set("attempts", Int64(tally.attempts))
    writer.set("delivered", Int64(tally.delivered))
    return writer
  }

  private func set(clockTo moment: Milliseconds) async throws -> PlayTally {
    guard SimulatedCalendar.range.contains(moment) else {
      throw WorldRefusal(.invalid, "the clock ends in the year 2099")
    }
    return try await play(
      until: moment, deadline: .now + StoreServerLimits.advance, setsClock: true)
  }

  private static func speed(_ fields: PayloadFields) throws -> Double? {
    guard let number = try fields.number("speed") else { return nil }
    guard let speed = Double(number), (0...StoreClock.maximumSpeed).contains(speed) else {
      throw WorldRefusal(.invalid, "speed is 0 to \(Int(StoreClock.maximumSpeed))")
    }
    return speed
  }
}
