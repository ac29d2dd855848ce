import EntitlementDomain

/// The name of an enumeration's value in `Protos/`, without the prefix of the enumeration, for
/// tables. It is derived from the case name: `billingRetry` becomes `BILLING_RETRY`.
func wireName(_ value: some RawRepresentable<Int>) -> String {
  upperSnakeCase(String(describing: value))
}

/// The same for `entitle.v1.LinkReason`, which has no raw values in Swift.
func wireName(_ reason: LinkReason) -> String {
  upperSnakeCase(String(describing: reason))
}

extension StoreEnvironment {
  /// The full name in `Protos/`, for documents that are not messages.
  var jsonName: String { "STORE_ENVIRONMENT_" + upperSnakeCase(String(describing: self)) }
}

private func upperSnakeCase(_ caseName: String) -> String {
  var name = ""
  for character in caseName {
    if character.isUppercase { name.append("_") }
    name.append(contentsOf: character.uppercased())
  }
  return name
}

extension FeedEvent {
  /// A table cell: `REFETCH_DUE (STATUS_MISMATCH)`, `CONSUMPTION_REQUESTED until 2026-11-21
  /// 21:30:00Z`.
  var cell: String {
    let reason = refetchReason.map { " (\(wireName($0)))" } ?? ""
    let end = deadline.map { " until \($0.display)" } ?? ""
    return wireName(kind) + reason + end
  }
}

extension [FeedEvent] {
  /// A table cell with all events; `-` for none.
  var cell: String {
    isEmpty ? "-" : map(\.cell).joined(separator: ", ")
  }
}
