/// What verification may cost, each limit with its reason.
package enum VerificationLimits {
  /// Bytes of one JWS, far above Apple's 20 kB: what is longer is refused unread.
  package static let signedLength = 262_144
  /// Certificates of one header that are read, if only to say that there are not three.
  static let certificates = 8
  /// Signers whose chain verified. Apple uses one or two at a time; tests and simulators a few.
  static let rememberedSigners = 64
  /// Headers that were refused. They only spare work, so a flood may push them out.
  static let rememberedRefusals = 256
  /// Payloads that may wait for a worker: at 10,000 a second on one core, 0.4 s of work.
  package static let queuedItems = 4_096
  /// Payloads of one batch that one worker takes at least, about a millisecond of work: for fewer,
  /// waking another worker is not worth it.
  static let itemsPerPiece = 8
}
