/// How many grants there may be, and what one may hold in UTF-8 bytes: it is kept for ever, and
/// sent with every list.
package enum GrantLimits {
  /// Grants of an account, withdrawn ones included: the list of them must fit a message, and each
  /// read of the account looks at them. Calls at the same time may go a little above it.
  package static let perAccount = 1_000
  /// As every identifier on the wire.
  package static let accountID = 256
  /// A few sentences.
  package static let reason = 1_024
  /// A name, or an address.
  package static let author = 256
}
