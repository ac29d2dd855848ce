/// The name of a certificate's subject or issuer, in the parts that Apple's certificates use.
package struct DistinguishedName: Hashable, Sendable {
  package var commonName: String
  package var organizationalUnit: String?
  package var organization: String?
  /// Two letters (ISO 3166-1).
  package var country: String?

  package init(
    commonName: String, organizationalUnit: String? = nil, organization: String? = nil,
    country: String? = nil
  ) {
    self.commonName = commonName
    self.organizationalUnit = organizationalUnit
    self.organization = organization
    self.country = country
  }

  /// The parts that are present with their short names, in the order in which they are encoded.
  var parts: [(name: String, value: String)] {
    var parts = [("CN", commonName)]
    if let organizationalUnit { parts.append(("OU", organizationalUnit)) }
    if let organization { parts.append(("O", organization)) }
    if let country { parts.append(("C", country)) }
    return parts.map { (name: $0.0, value: $0.1) }
  }
}
