import EntitlementDomain
import StoreSimulator

// Endpoints about subscriptions.
extension Simulation {
  func statuses(_ call: StoreCall) throws(SimulatedAPIError) -> StoreAnswer {
    var wanted: Set<Int64> = []
    for text in call.request.values("status") {
      guard let number = Int64(text), SubscriptionStatus(rawValue: number) != nil else {
        throw .invalidStatus
      }
      wanted.insert(number)
    }
    let index = try customer(call)
    var groups: [(id: SubscriptionGroupID, items: [JSONObjectWriter])] = []
    for chain in world.records.chains(of: index).map(\.payload) {
      let renewalInfo = world.records.customers[index].renewalInfos[chain.originalTransactionID]
      let status = ChainPhase(of: chain, renewalInfo, at: world.now).status.rawValue
      guard wanted.isEmpty || wanted.contains(status), let group = chain.subscriptionGroupID else {
        continue
      }
      var item = JSONObjectWriter()
      item.set("originalTransactionId", chain.originalTransactionID.rawValue)
      item.set("status", status)
      item.set("signedTransactionInfo", try signed(chain))
      if let renewalInfo { item.set("signedRenewalInfo", try signed(renewalInfo)) }
      if let known = groups.firstIndex(where: { $0.id == group }) {
        groups[known].items.append(item)
      } else {
        groups.append((group, [item]))
      }
    }
    var writer = JSONObjectWriter()
    writeApp(to: &writer)
    writer.set(
      "data",
      objects: groups.map { group in
        var object = JSONObjectWriter()
        object.set("subscriptionGroupIdentifier", group.id.rawValue)
        object.set("lastTransactions", objects: group.items)
        return object
      })
    return .json(writer)
  }

  // MARK: Extensions

  func extendRenewalDate(_ call: StoreCall) throws(SimulatedAPIError) -> StoreAnswer {
    let id = call.parameters[0]
    guard StoreCall.isID(id) else { throw .invalidOriginalTransactionID }
    let (days, _) = try extensionFields(call)
    guard !call.isOtherEnvironment else { throw .originalNotFound }
    let outcome: World.Extension
    do throws(World.ExtensionRefusal) {
      outcome = try world.extendRenewalDate(of: OriginalTransactionID(id), days: days)
    } catch {
      switch error {
      case .notFound: throw .originalNotFound
      case .familyShared: throw .extensionFamilyShared
      case .state: throw .extensionIneligible
      case .maximum: throw .extensionMaximum
      }
    }
    try announce(outcome.events)
    var writer = JSONObjectWriter()
    writer.set("originalTransactionId", id)
    writer.set("webOrderLineItemId", outcome.webOrderLineItemID?.rawValue)
    writer.set("success", true)
    writer.set("effectiveDate", outcome.effectiveDate.rawValue)
    return .json(writer)
  }

  /// `extendByDays` and `requestIdentifier`; `extendReasonCode` is checked.
  private func extensionFields(
    _ call: StoreCall
  ) throws(SimulatedAPIError) -> (days: Int64, identifier: String) {
    let days = try call.integer("extendByDays", or: .invalidExtendByDays)
    guard let days, (1...90).contains(days) else { throw .invalidExtendByDays }
    let reason = try call.integer("extendReasonCode", or: .invalidExtendReason)
    guard let reason, (0...3).contains(reason) else { throw .invalidExtendReason }
    let identifier = try call.text("requestIdentifier", or: .invalidRequestIdentifier)
    guard let identifier, (1...128).contains(identifier.utf8.count) else {
      throw .invalidRequestIdentifier
    }
    return (days, identifier)
  }

  func extendAll(_ call: StoreCall) throws(SimulatedAPIError) -> StoreAnswer {
    let (days, identifier) = try extensionFields(call)
    let product = try call.text("productId", or: .invalidProductID)
    guard let product, isSubscription(product) else { throw .invalidProductID }
    let countries = try call.texts("storefrontCountryCodes", or: .invalidStorefront)
    guard countries != [] else { throw .emptyStorefronts }
    for country in countries ?? [] {
      guard country.utf8.count == 3,
        country.utf8.allSatisfy({ (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) })
      else { throw .invalidStorefront }
    }
    // The other environment has no subscribers.
    if !call.isOtherEnvironment {
      world.requestMassExtension(
        MassExtension.Request(
          identifier: identifier, productID: ProductID(product), days: days,
          countries: countries ?? []))
    }
    var writer = JSONObjectWriter()
    writer.set("requestIdentifier", identifier)
    return .json(writer)
  }

  func massExtensionStatus(_ call: StoreCall) throws(SimulatedAPIError) -> StoreAnswer {
    let (product, identifier) = (call.parameters[0], call.parameters[1])
    guard isSubscription(product) else { throw .invalidProductID }
    guard (1...128).contains(identifier.utf8.count) else { throw .invalidRequestIdentifier }
    guard !call.isOtherEnvironment,
      let known = world.massExtension(identifier, of: ProductID(product))
    else { throw .massExtensionNotFound }
    var writer = JSONObjectWriter()
    writer.set("requestIdentifier", identifier)
    writer.set("complete", known.isComplete)
    if let completed = known.completed {
      writer.set("completeDate", completed.rawValue)
      writer.set("succeededCount", known.succeededCount)
      writer.set("failedCount", known.failedCount)
    }
    return .json(writer)
  }

  private func isSubscription(_ id: String) -> Bool {
    SimulatedApp.product(ProductID(id))?.type == .autoRenewable
  }
}
