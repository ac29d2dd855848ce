/// What the texts of an audited change may hold in UTF-8 bytes: they are kept for ever.
package enum LinkLimits {
  /// As every identifier on the wire.
  package static let identifier = 256
  /// A few sentences.
  package static let reason = 1_024
  /// A name, or an address.
  package static let author = 256
  /// Steps of a history that are told, the latest: what fits a message.
  package static let history = 10_000
}
