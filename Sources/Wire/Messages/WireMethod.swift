/// A method of a service: where it is called, what it takes and what it answers.
package struct WireMethod<Request: WireMessage, Response: WireMessage>: Sendable {
  /// Full name of the service, such as `entitle.v1.EntitlementService`.
  package let service: String
  package let name: String
  package let idempotency: Idempotency
}

/// What another call with the same request does (`google.protobuf.MethodOptions.IdempotencyLevel`).
package enum Idempotency: Hashable, Sendable {
  /// Nothing, and the first does nothing either: a read.
  case noSideEffects
  /// Nothing more than the first.
  case idempotent
  /// Nobody knows.
  case unknown
}
