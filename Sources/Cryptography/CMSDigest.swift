/// The hash functions that receipts are signed with.
package enum CMSDigest: String, Hashable, Sendable, CaseIterable {
  case sha1 = "SHA-1"
  case sha256 = "SHA-256"
}
