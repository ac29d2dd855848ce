/// The name that an enumeration's value has in `Protos/`, without the enumeration's own: the case
/// names are the same but for their spelling (`billingRetry`, `BILLING_RETRY`). A test lists them,
/// since they are a contract.
package func wireName(_ value: some RawRepresentable<Int>) -> String {
  var name = ""
  for character in String(describing: value) {
    if character.isUppercase { name.append("_") }
    name.append(contentsOf: character.uppercased())
  }
  return name
}
