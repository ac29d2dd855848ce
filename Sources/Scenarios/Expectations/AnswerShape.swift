/// What an answer may hold: the names that an expectation may use, and the form of their values.
indirect enum AnswerShape: Sendable {
  case text
  case integer
  case boolean
  /// In milliseconds; written as a moment.
  case moment
  /// A list of text.
  case texts
  case object([String: AnswerShape])
  /// A list that is compared by position.
  case list(AnswerShape)
  /// A list of objects that are told apart by one of their members.
  case keyed(by: String, AnswerShape)

  /// `JSONDocuments.StateDocument`.
  static let state = AnswerShape.object([
    "bundle_id": .text, "environment": .text, "account_id": .text, "revision": .integer,
    "evaluated_at_ms": .moment, "core_state": .text, "calls_to_action": .texts,
    "next_transition_at_ms": .moment,
    "entitlements": .keyed(
      by: "entitlement_id", .object(["entitlement_id": .text, "sources": .list(source)])),
    "products": .keyed(
      by: "product_id",
      .object([
        "product_id": .text, "group_id": .text, "in_catalog": .boolean, "standing": standing,
      ])),
    "groups": .keyed(
      by: "group_id",
      .object([
        "group_id": .text, "standing": standing, "trial_used": .boolean,
        "introductory_offer_used": .boolean,
      ])),
    "grandfathering": .keyed(
      by: "rule_id",
      .object([
        "rule_id": .text, "outcome": .text, "reason": .text, "flagged": .boolean,
        "app_transaction_id": .text,
      ])),
  ])

  private static let source = AnswerShape.object([
    "transaction_id": .text, "original_transaction_id": .text, "product_id": .text,
    "grant_id": .text, "grandfathering_rule_id": .text, "since_ms": .moment, "until_ms": .moment,
    "evidence": .text,
  ])

  /// `JSONDocuments.StandingDocument`.
  private static let standing = AnswerShape.object([
    "core_state": .text, "status": .text, "expiration_reason": .text, "product_id": .text,
    "product_type": .text, "transaction_id": .text, "original_transaction_id": .text,
    "period_start_ms": .moment, "period_end_ms": .moment, "grace_end_ms": .moment,
    "will_renew": .boolean, "price_consent": .text, "offer": offer, "renewal_offer": offer,
    "win_back_offer_ids": .texts, "ownership": .text, "storefront": .text,
    "first_purchase_at_ms": .moment, "call_to_action": .text, "notices": .texts,
    "pending_change": .object(["product_id": .text, "effective_at_ms": .moment]),
    "revocation": .object(["date_ms": .moment, "reason": .integer, "type": .text]),
    "commitment": .object([
      "billing_period_number": .integer, "total_billing_periods": .integer,
      "expires_at_ms": .moment,
    ]),
  ])

  private static let offer = AnswerShape.object([
    "type": .integer, "identifier": .text, "discount_type": .text, "period": .text,
  ])

  /// What became of one fact.
  static let item = AnswerShape.object([
    "kind": .text, "verdict": .text, "reason": .text, "disposition": .text, "link": .text,
    "original_transaction_id": .text, "transaction_id": .text,
  ])

  /// What became of a submission by an app.
  static let submission = AnswerShape.object(["results": .list(item)])

  /// What became of a notification.
  static let notification = AnswerShape.object([
    "verdict": .text, "reason": .text, "duplicate": .boolean, "results": .list(item),
    "events": .list(event),
  ])

  /// `JSONDocuments.FeedEventDocument`.
  private static let event = AnswerShape.object([
    "kind": .text, "notification_uuid": .text, "original_transaction_id": .text,
    "transaction_id": .text, "deadline_ms": .moment, "refetch_reason": .text, "detail": .text,
  ])

  /// Which rule decided, by id.
  static let explanation = AnswerShape.object(["entitlements": .rules, "groups": .rules])

  /// A mapping of any ids to rules.
  case rules

  /// Whether an answer has this form: what this list of names forgets could never be expected.
  func admits(_ value: AnswerValue) -> Bool {
    switch (self, value) {
    case (.text, .text), (.integer, .integer), (.boolean, .boolean), (.moment, .integer): true
    case (.texts, .list(let values)): values.allSatisfy { AnswerShape.text.admits($0) }
    case (.list(let item), .list(let values)): values.allSatisfy { item.admits($0) }
    case (.keyed(let key, let item), .list(let values)):
      values.allSatisfy { $0[key] != nil && item.admits($0) }
    case (.object(let shapes), .object(let members)):
      members.allSatisfy { name, value in shapes[name]?.admits(value) ?? false }
    case (.rules, .object(let members)): members.values.allSatisfy { AnswerShape.text.admits($0) }
    default: false
    }
  }
}
