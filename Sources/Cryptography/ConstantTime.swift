import COpenSSL

/// Comparisons whose time tells nothing of where two values differ.
package enum ConstantTime {
  package static func areEqual(_ left: [UInt8], _ right: [UInt8]) -> Bool {
    left.count == right.count && CRYPTO_memcmp(left, right, left.count) == 0
  }
}
