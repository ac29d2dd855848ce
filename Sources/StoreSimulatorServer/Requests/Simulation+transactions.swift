import Cryptography
import EntitlementDomain
import StoreSimulator

// Endpoints about transactions.
extension Simulation {
  /// Pages have a fixed size.
  static let pageSize = 20

  /// The transaction that the path names.
  private func transaction(_ call: StoreCall) throws(SimulatedAPIError)
    -> StoreRecords.StoredTransaction
  {
    let id = call.parameters[0]
    guard StoreCall.isID(id) else { throw .invalidTransactionID }
    guard !call.isOtherEnvironment else { throw .transactionNotFound }
    guard !world.records.isAppTransactionID(id) else { throw .appTransactionID }
    guard let stored = world.records.transactions[TransactionID(id)] else {
      throw .transactionNotFound
    }
    return stored
  }

  /// The customer whom any id in the path names.
  func customer(_ call: StoreCall) throws(SimulatedAPIError) -> Int {
    let id = call.parameters[0]
    guard StoreCall.isID(id) else { throw .invalidTransactionID }
    guard !call.isOtherEnvironment, let index = world.records.customer(ofAnyID: id) else {
      throw .transactionNotFound
    }
    return index
  }

  func transactionInfo(_ call: StoreCall) throws(SimulatedAPIError) -> StoreAnswer {
    var writer = JSONObjectWriter()
    writer.set("signedTransactionInfo", try signed(try transaction(call).payload))
    return .json(writer)
  }

  func history(_ call: StoreCall, isVersion1: Bool) throws(SimulatedAPIError) -> StoreAnswer {
    var filter = try HistoryParameters.filter(of: call.request)
    filter.leavesOutFinishedConsumables = isVersion1
    let isDescending = try HistoryParameters.isDescending(call.request)
    let index = try customer(call)
    let query = "history \(index) \(isDescending) \(HistoryParameters.text(of: call.request))"
    let page = world.records.history(
      of: index, filter, after: try position(call, in: query), isDescending: isDescending,
      count: Self.pageSize)
    var writer = JSONObjectWriter()
    try write(page, of: query, to: &writer)
    return .json(writer)
  }

  func refundHistory(_ call: StoreCall, isVersion1: Bool) throws(SimulatedAPIError) -> StoreAnswer {
    let index = try customer(call)
    let query = "refunds \(index)"
    let page = world.records.refunds(
      of: index, after: isVersion1 ? nil : try position(call, in: query),
      count: isVersion1 ? 50 : Self.pageSize)
    var writer = JSONObjectWriter()
    if isVersion1 {
      writer.set("signedTransactions", texts: try signed(page.transactions))
    } else {
      try write(page, of: query, to: &writer)
    }
    return .json(writer)
  }

  private func write(
    _ page: StoreRecords.Page, of query: String, to writer: inout JSONObjectWriter
  ) throws(SimulatedAPIError) {
    writer.set("revision", PageToken(position: page.position, query: query).text)
    writeApp(to: &writer)
    writer.set("hasMore", page.hasMore)
    writer.set("signedTransactions", texts: try signed(page.transactions))
  }

  private func signed(_ payloads: [TransactionPayload]) throws(SimulatedAPIError) -> [String] {
    var texts: [String] = []
    for payload in payloads { texts.append(try signed(payload)) }
    return texts
  }

  /// The position of the request's revision; nil without one.
  private func position(_ call: StoreCall, in query: String) throws(SimulatedAPIError) -> Int64? {
    guard let text = call.request.values("revision").first else { return nil }
    guard let position = PageToken.position(of: text, in: query) else { throw .invalidRevision }
    return position
  }

  func orderLookup(_ call: StoreCall) throws(SimulatedAPIError) -> StoreAnswer {
    let order = call.parameters[0]
    let isForm = order.utf8.allSatisfy { byte in
      (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
        || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte & 0xDF)
    }
    guard isForm, (1...64).contains(order.utf8.count) else { throw .badRequest }
    var writer = JSONObjectWriter()
    // Orders are known in Production only.
    if environment == .production, !call.isOtherEnvironment,
      let id = OrderID.transactionID(of: order), let stored = world.records.transactions[id]
    {
      writer.set("status", 0)
      writer.set("signedTransactions", texts: [try signed(stored.payload)])
    } else {
      writer.set("status", 1)
    }
    return .json(writer)
  }

  func appTransaction(_ call: StoreCall) throws(SimulatedAPIError) -> StoreAnswer {
    guard let payload = world.records.customers[try customer(call)].appTransaction else {
      throw .noAppTransaction
    }
    var writer = JSONObjectWriter()
    writer.set("signedAppTransactionInfo", try signed(payload))
    return .json(writer)
  }

  func finish(_ call: StoreCall) throws(SimulatedAPIError) -> StoreAnswer {
    world.finish(try transaction(call).payload.transactionID)
    return .empty
  }

  func setToken(_ call: StoreCall) throws(SimulatedAPIError) -> StoreAnswer {
    let id = call.parameters[0]
    guard StoreCall.isID(id) else { throw .invalidTransactionID }
    guard !world.records.isAppTransactionID(id) else { throw .appTransactionID }
    let text = try call.text("appAccountToken", or: .tokenIsNoUUID)
    guard let text, Self.isUUID(text) else { throw .tokenIsNoUUID }
    guard !call.isOtherEnvironment,
      let payload = world.records.transactions[TransactionID(id)]?.payload
    else { throw .originalNotFound }
    guard payload.ownership != .familyShared else { throw .familyShared }
    guard payload.ownership != .assigned else { throw .assigned }
    guard payload.originalTransactionID.rawValue == id else { throw .notOriginal }
    // Apple's Swift client sends upper case; the App Store signs lower case.
    try announce(
      world.setToken(AppAccountToken(text.lowercased()), of: payload.transactionID))
    return .empty
  }

  static func isUUID(_ text: String) -> Bool {
    let lengths = text.split(separator: "-", omittingEmptySubsequences: false).map(\.utf8.count)
    return lengths == [8, 4, 4, 4, 12] && text.allSatisfy { $0 == "-" || $0.isHexDigit }
  }

  // MARK: Consumption

  /// The transaction about which consumption information is sent.
  private func consumed(_ call: StoreCall) throws(SimulatedAPIError) -> TransactionPayload {
    let payload = try transaction(call).payload
    guard payload.ownership != .familyShared else { throw .familyShared }
    guard payload.ownership != .assigned else { throw .assigned }
    return payload
  }

  func receiveConsumption(_ call: StoreCall) throws(SimulatedAPIError) -> StoreAnswer {
    let payload = try consumed(call)
    guard try call.boolean("customerConsented", or: .invalidConsent) == true
    else { throw .invalidConsent }
    guard try call.boolean("sampleContentProvided", or: .invalidSample) != nil
    else { throw .invalidSample }
    let delivery = try call.text("deliveryStatus", or: .invalidDeliveryStatus)
    guard let delivery, ConsumptionValues.deliveryStatus.contains(delivery) else {
      throw .invalidDeliveryStatus
    }
    let preference = try call.text("refundPreference", or: .invalidRefundPreference)
    if let preference, !ConsumptionValues.refundPreference.contains(preference) {
      throw .invalidRefundPreference
    }
    // The codes of the last three are not published.
    let percentage = try call.integer("consumptionPercentage", or: .badRequest)
    if let percentage {
      guard payload.type != .autoRenewable else { throw .percentageNotSupported }
      guard (0...100_000).contains(percentage) else { throw .badRequest }
      guard percentage == 0 || delivery == "DELIVERED" else { throw .badRequest }
      let isStrictlyBetween = (1..<100_000).contains(percentage)
      guard preference != "GRANT_PRORATED" || isStrictlyBetween else { throw .badRequest }
    }
    note(call, of: payload, version: 2)
    return StoreAnswer(status: 202)
  }

  func receiveConsumptionVersion1(_ call: StoreCall) throws(SimulatedAPIError) -> StoreAnswer {
    let payload = try consumed(call)
    guard payload.type == .consumable || payload.type == .autoRenewable else {
      throw .typeNotSupported
    }
    guard try call.boolean("customerConsented", or: .invalidConsent) == true
    else { throw .invalidConsent }
    guard try call.boolean("sampleContentProvided", or: .invalidSample) != nil
    else { throw .invalidSample }
    let tokenError = SimulatedAPIError(4_000_033)
    let token = try call.text("appAccountToken", or: tokenError)
    guard let token, token.isEmpty || Self.isUUID(token) else { throw tokenError }
    for field in ConsumptionValues.version1 {
      let error = SimulatedAPIError(field.code)
      let value = try call.integer(field.name, or: error)
      guard let value else {
        if field.isRequired { throw error }
        continue
      }
      guard (0...field.maximum).contains(value) else { throw error }
    }
    note(call, of: payload, version: 1)
    return StoreAnswer(status: 202)
  }

  private func note(_ call: StoreCall, of payload: TransactionPayload, version: Int64) {
    if consumption.count >= ReceivedConsumption.maximumCount { consumption.removeFirst() }
    consumption.append(
      ReceivedConsumption(
        transactionID: payload.transactionID.rawValue, at: world.now, version: version,
        body: call.request.body))
  }
}

/// Values of consumption information.
private enum ConsumptionValues {
  static let deliveryStatus: Set = [
    "DELIVERED", "UNDELIVERED_QUALITY_ISSUE", "UNDELIVERED_WRONG_ITEM",
    "UNDELIVERED_SERVER_OUTAGE", "UNDELIVERED_OTHER",
  ]
  static let refundPreference: Set = ["DECLINE", "GRANT_FULL", "GRANT_PRORATED"]

  /// A number of version 1: from 0 to its maximum.
  struct Number {
    let name: StaticString
    let maximum: Int64
    let code: Int64
    var isRequired = true
  }

  static let version1 = [
    Number(name: "accountTenure", maximum: 7, code: 4_000_032),
    Number(name: "consumptionStatus", maximum: 3, code: 4_000_034),
    Number(name: "deliveryStatus", maximum: 5, code: 4_000_036),
    Number(name: "lifetimeDollarsPurchased", maximum: 7, code: 4_000_037),
    Number(name: "lifetimeDollarsRefunded", maximum: 7, code: 4_000_038),
    Number(name: "platform", maximum: 2, code: 4_000_039),
    Number(name: "playTime", maximum: 7, code: 4_000_040),
    Number(name: "userStatus", maximum: 4, code: 4_000_042),
    Number(name: "refundPreference", maximum: 3, code: 4_000_044, isRequired: false),
  ]
}
