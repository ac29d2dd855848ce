/// What the texts of an audited change may hold in UTF-8 bytes, as they are kept for ever; and how much
/// is told of who owns what.
package enum LinkLimits {
  /// As every identifier on the wire.
  package static let identifier = 256
  /// A few sentences.
  package static let reason = 1_024
  /// A name, or an address.
  package static let author = 256
  /// Steps of a history that are told, the latest: what fits a message.
  package static let history = 10_000
  /// Links of an account that are told, the first: what fits a message, unless ids are very long.
  package static let links = 10_000
  /// What changed hands, and customers, that are told after a change: what fits a message whatever
  /// their ids.
  package static let told = 4_000
}
