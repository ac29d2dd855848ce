/// What one step of the conversion of stored payloads did.
package enum PayloadConversionStep: Hashable, Sendable {
  /// Looked at this many payloads, and made what is stored of them smaller by these bytes. There may
  /// be more.
  case converted(payloads: Int, savedBytes: Int64)
  /// All payloads are in the present form.
  case complete
  /// Another process converts, or has just done a step, after which all rest.
  case elsewhere
}
