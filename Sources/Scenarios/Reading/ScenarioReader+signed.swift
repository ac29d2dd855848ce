import EntitlementDomain
import StoreSimulator
import Yams

// Steps that submit signed payloads.
extension ScenarioReader {
  mutating func notification(
    _ node: Node?, _ frame: StepFrame
  ) -> (at: Milliseconds, action: ScenarioStep.Action)? {
    guard let node,
      let draft = NotificationDraft(
        node, at: "\(frame.path).notification", values: values, facts: facts)
    else { return nil }
    let at = receive(frame, written: draft.writtenMoments)
    let composer = FactComposer(
      issues: issues, catalog: catalog, scope: frame.scope, signedAt: draft.signedDate ?? at)
    let transaction = draft.transaction.map { composer.transaction($0) }
    let renewalInfo = draft.renewalInfo.map {
      composer.renewalInfo($0, companion: transaction)
    }
    let appTransaction = draft.appTransaction.map { composer.appTransaction($0) }
    recordFirstChain(transaction)
    let planned = (
      transaction: planned(transaction), renewalInfo: planned(renewalInfo),
      appTransaction: planned(appTransaction)
    )
    payloadCount += 1
    let plan = draft.plan(
      number: payloadCount, uuid: Self.uuid(payloadCount), at: at, composer: composer,
      transaction: planned.transaction, renewalInfo: planned.renewalInfo,
      appTransaction: planned.appTransaction)
    return (at, .notification(plan))
  }

  mutating func submission(
    _ node: Node?, _ frame: StepFrame
  ) -> (at: Milliseconds, action: ScenarioStep.Action)? {
    guard let node,
      var fields = NodeFields(
        node, at: "\(frame.path).submit",
        allowed: ["transactions", "renewal_infos", "app_transactions", "signed"], issues: issues)
    else { return nil }
    let transactions = drafts(&fields, "transactions", .transaction, kind: "transaction")
    let renewalInfos = drafts(&fields, "renewal_infos", .renewalInfo, kind: "renewal info")
    let appTransactions = drafts(
      &fields, "app_transactions", .appTransaction, kind: "app transaction")
    let written =
      (transactions + renewalInfos).compactMap { $0.moment("signedDate") }
      + appTransactions.compactMap { $0.moment("receiptCreationDate") }
    let at = receive(frame, written: written)
    let composer = FactComposer(
      issues: issues, catalog: catalog, scope: frame.scope, signedAt: at)
    var payloads = transactions.map { composer.transaction($0) }
    recordFirstChain(payloads.first)
    let companion = payloads.count == 1 ? payloads.first : nil
    payloads += renewalInfos.map { composer.renewalInfo($0, companion: companion) }
    payloads += appTransactions.map { composer.appTransaction($0) }
    var items: [SubmissionItem] = []
    for payload in payloads {
      if let planned = planned(payload) { items.append(.planned(planned)) }
    }
    let signedPath = fields.path(of: "signed")
    for item in values.list(fields.take("signed"), at: signedPath) {
      if let signed = signed(item.node, at: item.path) { items.append(signed) }
    }
    if items.isEmpty { issues.report("nothing is submitted", at: "\(frame.path).submit", node) }
    return (at, .submission(items))
  }

  private func drafts(
    _ fields: inout NodeFields, _ name: String, _ names: AppleFields, kind: String
  ) -> [FactDraft] {
    let path = fields.path(of: name)
    return values.list(fields.take(name), at: path).compactMap { item in
      facts.draft(item.node, at: item.path, fields: names, kind: kind)
    }
  }

  private mutating func signed(_ node: Node, at path: String) -> SubmissionItem? {
    if node.scalar != nil {
      return values.text(node, at: path).map { .verbatim(Self.trimmed($0)) }
    }
    guard
      var fields = NodeFields(node, at: path, allowed: ["file", "payload"], issues: issues)
    else { return nil }
    let file = fields.take("file")
    let payload = fields.take("payload")
    switch (file, payload) {
    case (let file?, nil):
      guard let name = values.identifier(file, at: "\(path).file") else { return nil }
      do {
        return .verbatim(Self.trimmed(try catalogs.folder.contents(of: name, limit: 1 << 20)))
      } catch {
        for issue in error.issues { issues.report(issue.message, at: "\(path).file", file) }
        return nil
      }
    case (nil, let payload?):
      guard let text = values.text(payload, at: "\(path).payload") else { return nil }
      payloadCount += 1
      return .planned(PlannedPayload(number: payloadCount, json: Array(text.utf8)))
    default:
      issues.report("one of file, payload is needed", at: path, node)
      return nil
    }
  }

  private mutating func planned(_ object: PayloadObject?) -> PlannedPayload? {
    guard let object else { return nil }
    payloadCount += 1
    return PlannedPayload(number: payloadCount, json: object.bytes)
  }

  private mutating func recordFirstChain(_ transaction: PayloadObject?) {
    guard firstChain == nil, case .text(let chain) = transaction?["originalTransactionId"] else {
      return
    }
    firstChain = OriginalTransactionID(chain)
  }

  /// A file of a JWS usually ends with a line break.
  private static func trimmed(_ text: String) -> [UInt8] {
    let isBlank: (UInt8) -> Bool = { [0x20, 0x09, 0x0a, 0x0d].contains($0) }
    return Array(text.utf8.drop(while: isBlank).reversed().drop(while: isBlank).reversed())
  }

  // MARK: Life cycles

  mutating func lifeCycle(
    _ node: Node?, _ frame: StepFrame
  ) -> (at: Milliseconds, action: ScenarioStep.Action)? {
    guard let node,
      var fields = NodeFields(
        node, at: "\(frame.path).life_cycle",
        allowed: ["name", "seed", "start", "until", "delivery"], issues: issues)
    else { return nil }
    guard let nameNode = fields.take("name") else {
      issues.report("missing", at: fields.path(of: "name"), node)
      return nil
    }
    let lifeCycle: LifeCycle? = values.choice(nameNode, at: fields.path(of: "name"))
    let untilPath = fields.path(of: "until")
    let untilNode = fields.take("until")
    let until = values.clockMoment(untilNode, at: untilPath)
    guard let lifeCycle, var progress = progress(of: lifeCycle, &fields, frame) else { return nil }
    let events = progress.timeline.events.filter { event in
      progress.deliveredUntil.map { event.at > $0 } ?? true && until.map { event.at <= $0 } ?? true
    }
    if let first = events.first, let previousMoment, first.at < previousMoment {
      issues.report("it begins before the step above", at: fields.path, node)
    }
    if let first = progress.timeline.events.lazy.flatMap(\.transactions).first, firstChain == nil {
      firstChain = first.originalTransactionID
    }
    progress.deliveredUntil = until ?? progress.timeline.events.last?.at
    lifeCycles[lifeCycle.rawValue] = progress
    let at = max(
      events.last?.at ?? progress.timeline.start, until ?? progress.timeline.start,
      previousMoment ?? progress.timeline.start)
    previousMoment = at
    return (
      at,
      .lifeCycle(
        LifeCycleEvents(lifeCycle: lifeCycle, events: events, delivery: progress.delivery))
    )
  }

  private func progress(
    of lifeCycle: LifeCycle, _ fields: inout NodeFields, _ frame: StepFrame
  ) -> LifeCycleProgress? {
    let seedNode = fields.take("seed")
    let startNode = fields.take("start")
    let deliveryNode = fields.take("delivery")
    if let begun = lifeCycles[lifeCycle.rawValue] {
      for (name, node) in [
        ("seed", seedNode), ("start", startNode), ("delivery", deliveryNode),
      ] {
        guard let node else { continue }
        issues.report("allowed only where the life cycle begins", at: fields.path(of: name), node)
      }
      return begun
    }
    guard let startNode else {
      issues.report("missing; it begins here", at: fields.path(of: "start"), fields.node)
      return nil
    }
    let seed = values.integer(seedNode, at: fields.path(of: "seed")) ?? 1
    let delivery: LifeCycleDelivery? = values.choice(
      deliveryNode, at: fields.path(of: "delivery"))
    guard let start = values.clockMoment(startNode, at: fields.path(of: "start")) else {
      return nil
    }
    return LifeCycleProgress(
      timeline: Timeline(
        lifeCycle, seed: UInt64(bitPattern: seed), start: start,
        environment: frame.scope.environment),
      delivery: delivery == .transactions ? .transactions : .notifications)
  }
}

/// How the events of a life cycle are delivered to the service.
enum LifeCycleDelivery: String, CaseIterable {
  case notifications
  case transactions
}

/// A life cycle that has begun, and the time up to which its events are delivered.
struct LifeCycleProgress {
  let timeline: Timeline
  let delivery: Delivery
  var deliveredUntil: Milliseconds?
}
