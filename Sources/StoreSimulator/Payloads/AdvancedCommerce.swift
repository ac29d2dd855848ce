/// What a subscription of the Advanced Commerce API consists of: `advancedCommerceInfo`, as far as
/// it is simulated. Names and meanings are Apple's.
package struct AdvancedCommerce: Hashable, Sendable {
  package var requestReferenceID: String
  package var taxCode: String
  package var displayName: String
  package var description: String

  package init(
    requestReferenceID: String, taxCode: String, displayName: String, description: String
  ) {
    self.requestReferenceID = requestReferenceID
    self.taxCode = taxCode
    self.displayName = displayName
    self.description = description
  }

  var json: JSONObjectWriter {
    var writer = JSONObjectWriter()
    writer.set("requestReferenceId", requestReferenceID)
    writer.set("taxCode", taxCode)
    writer.set("displayName", displayName)
    writer.set("description", description)
    return writer
  }
}
