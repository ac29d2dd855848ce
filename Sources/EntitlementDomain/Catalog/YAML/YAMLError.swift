/// Where and why a text is not YAML of the kind that is read here.
package struct YAMLError: Error, Hashable, Sendable {
  package let position: YAMLPosition
  package let message: String
}
