import EntitlementDomain

/// The name that an enumeration's value has in `Protos/`, without the enumeration's own, for tables: the
/// case names are the same but for their spelling (`billingRetry`, `BILLING_RETRY`).
func wireName(_ value: some RawRepresentable<Int>) -> String {
  upperSnakeCase(String(describing: value))
}

/// The same of a value of `entitle.v1.LinkReason`: its numbers are no raw values here.
func wireName(_ reason: LinkReason) -> String {
  upperSnakeCase(String(describing: reason))
}

extension StoreEnvironment {
  /// Its name in `Protos/` as a whole, for documents that are no messages.
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
