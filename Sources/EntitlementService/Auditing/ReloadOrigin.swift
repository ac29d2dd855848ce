package import EntitlementStore

/// The caller of a reload, and the person or tool for whom it acts.
package struct ReloadOrigin: Hashable, Sendable {
  package var caller: AuditCaller
  package var onBehalfOf: String?

  /// - Throws: ``ServiceError/Code-swift.enum/invalidArgument(field:)`` for a name that is empty, too
  ///   long or contains a NUL.
  package init(_ caller: AuditCaller, onBehalfOf: String?) throws(ServiceError) {
    try RequestText.checkOnBehalfOf(onBehalfOf)
    self.caller = caller
    self.onBehalfOf = onBehalfOf
  }

  private init(server caller: AuditCaller) {
    self.caller = caller
  }

  /// The server itself: a signal, or a file that changed.
  package static let server = ReloadOrigin(server: .server)
}

extension RequestText {
  /// Checks the name of the person or tool for whom a caller acts.
  static func checkOnBehalfOf(_ name: String?) throws(ServiceError) {
    if let name { try check(name, as: "on_behalf_of", limit: LinkLimits.onBehalfOf) }
  }
}
