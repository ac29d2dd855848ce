/// A fact together with the bytes that prove it.
package struct SignedFact: Hashable, Sendable {
  package var fact: Fact
  package var signed: SignedPayload

  package init(fact: Fact, signed: SignedPayload) {
    self.fact = fact
    self.signed = signed
  }
}

/// A notification together with the bytes that prove it.
package struct SignedNotification: Hashable, Sendable {
  package var record: NotificationRecord
  package var signed: SignedPayload

  package init(record: NotificationRecord, signed: SignedPayload) {
    self.record = record
    self.signed = signed
  }
}
