import EntitlementDomain
import Yams

/// A notification as written in the file, before defaults.
struct NotificationDraft {
  private(set) var transaction: FactDraft?
  private(set) var renewalInfo: FactDraft?
  private(set) var appTransaction: FactDraft?
  /// Nil when it is not written, or `null` leaves it out.
  private(set) var signedDate: Milliseconds?

  /// `notificationType`, `subtype` and so on, by Apple's name. A nil value leaves the field out.
  private var outer: [String: PayloadValue?] = [:]
  private var extra = PayloadObject()
  /// Nil when the notification has no subject.
  private var subject: Subject?
  private var members: [(name: String, value: PayloadValue?)] = []

  private enum Subject: String, CaseIterable {
    case data
    case summary
    case externalPurchaseToken
    case appData

    var fields: AppleFields {
      switch self {
      case .data: .data
      case .summary: .summary
      case .externalPurchaseToken: .externalPurchaseToken
      case .appData: .appData
      }
    }

    /// The fields of the scenario that imply this subject.
    var relatedFields: [String] {
      switch self {
      case .data: ["transaction", "renewal_info", "status", "consumptionRequestReason"]
      case .summary, .externalPurchaseToken: []
      case .appData: ["app_transaction"]
      }
    }
  }

  private static let outerNames: KeyValuePairs = [
    "type": "notificationType", "subtype": "subtype", "uuid": "notificationUUID",
    "version": "version",
  ]

  private static let fields =
    outerNames.map(\.key) + ["signedDate", "extra"] + Subject.allCases.map(\.rawValue)
    + Subject.allCases.flatMap(\.relatedFields)

  /// Reports issues; nil when the node is not a mapping.
  init?(_ node: Node, at path: String, values: ValueReader, facts: FactDraftReader) {
    let issues = values.issues
    guard var fields = NodeFields(node, at: path, allowed: Self.fields, issues: issues) else {
      return nil
    }
    if !fields.contains("type") {
      issues.report("missing", at: fields.path(of: "type"), node)
    }
    for (written, name) in Self.outerNames {
      guard let node = fields.take(written) else { continue }
      outer[name] = .some(
        node.isNull
          ? nil : values.text(node, at: fields.path(of: written)).map { .text($0) })
    }
    readSubject(&fields, values: values, facts: facts)
    transaction = Self.fact(&fields, "transaction", .transaction, "transaction", facts)
    renewalInfo = Self.fact(&fields, "renewal_info", .renewalInfo, "renewal info", facts)
    appTransaction = Self.fact(
      &fields, "app_transaction", .appTransaction, "app transaction", facts)
    if let node = fields.take("signedDate") {
      signedDate =
        node.isNull ? nil : values.moment(node, at: fields.path(of: "signedDate"))
      outer["signedDate"] = .some(signedDate.map { .number(String($0.rawValue)) })
    }
    facts.readExtra(fields.take("extra"), at: fields.path(of: "extra"), into: &extra)
  }

  /// The signing dates in the file.
  var writtenMoments: [Milliseconds] {
    let facts = [
      transaction?.moment("signedDate"), renewalInfo?.moment("signedDate"),
      appTransaction?.moment("receiptCreationDate"), signedDate,
    ]
    return facts.compactMap { $0 }
  }

  /// The notification with defaults filled in.
  func plan(
    number: Int, uuid: String, at: Milliseconds, composer: FactComposer,
    transaction: PlannedPayload?, renewalInfo: PlannedPayload?, appTransaction: PlannedPayload?
  ) -> PlannedNotification {
    var object = PayloadObject()
    let defaults: KeyValuePairs<String, PayloadValue?> = [
      "notificationType": nil, "subtype": nil, "notificationUUID": .text(uuid),
      "version": .text("2.0"), "signedDate": .number(String(at.rawValue)),
    ]
    for (name, value) in defaults {
      // A written value overrides the default, even if it leaves the field out.
      object[name] = outer[name] ?? value
    }
    for name in extra.names { object[name] = extra[name] }
    return PlannedNotification(
      number: number, outer: object,
      subject: subject.map { ($0.rawValue, subjectMembers($0, composer: composer)) },
      transaction: transaction, renewalInfo: renewalInfo, appTransaction: appTransaction)
  }

  private func subjectMembers(_ subject: Subject, composer: FactComposer) -> PayloadObject {
    var object = PayloadObject()
    object["appAppleId"] = composer.appAppleID
    object["bundleId"] = .text(composer.scope.bundleID.rawValue)
    if subject != .externalPurchaseToken {
      object["environment"] = .text(composer.scope.environment.rawValue)
    }
    for member in members { object[member.name] = member.value }
    return object
  }

  private mutating func readSubject(
    _ fields: inout NodeFields, values: ValueReader, facts: FactDraftReader
  ) {
    let named = Subject.allCases.filter { subject in
      fields.contains(subject.rawValue) || subject.relatedFields.contains { fields.contains($0) }
    }
    if named.count > 1 {
      let list = named.map(\.rawValue).joined(separator: ", ")
      values.issues.report(
        "a notification is about one of \(list), not about several", at: fields.path, fields.node)
    }
    let subject = named.first ?? .data
    self.subject = subject
    if let node = fields.take(subject.rawValue) {
      if node.isNull {
        self.subject = nil
      } else {
        members = facts.object(
          node, at: fields.path(of: subject.rawValue), fields: subject.fields)
      }
    }
    if let node = fields.take("status"),
      let status = values.integer(node, at: fields.path(of: "status"))
    {
      members.append(("status", .number(String(status))))
    }
    if let node = fields.take("consumptionRequestReason"),
      let reason = values.text(node, at: fields.path(of: "consumptionRequestReason"))
    {
      members.append(("consumptionRequestReason", .text(reason)))
    }
  }

  private static func fact(
    _ fields: inout NodeFields, _ name: String, _ names: AppleFields, _ kind: String,
    _ facts: FactDraftReader
  ) -> FactDraft? {
    let path = fields.path(of: name)
    return fields.take(name).flatMap { facts.draft($0, at: path, fields: names, kind: kind) }
  }
}
