/// What is accepted of an OCSP response, each limit with its reason.
package enum OCSPLimits {
  /// Bytes of a response, 64 KiB. Real ones have one to three kilobytes, the responder's certificate
  /// among them.
  package static let responseLength = 65_536
  /// How far a responder's clock may be ahead of ours, in milliseconds: five minutes, as is usual.
  static let clockSkew: Int64 = 300_000
  /// How long after its `thisUpdate` an answer is used that does not say when there is a newer one,
  /// in milliseconds: an hour. RFC 6960 section 4.2.2.1 has it that there is one at any time.
  static let withoutNextUpdate: Int64 = 3_600_000
}
