/// What verification may cost, each limit with its reason.
package enum VerificationLimits {
  /// Bytes of one JWS: what is longer is refused unread. Apple's notifications have about 25 kB, and
  /// much more where both inner payloads, in base64 twice, list the items of a subscription
  /// (Advanced Commerce). A genuine one that is refused here is lost, so there is ample room;
  /// ``queuedBytes`` bounds what many take together.
  package static let signedLength = 262_144
  /// Bytes of one header segment. Apple's has about 5 kB: three certificates, in base64 twice. It is
  /// read before anything is known of its sender, and kept for each signer.
  static let headerLength = 16_384
  /// Certificates of one header that are read, if only to say that there are not three.
  static let certificates = 8
  /// Signers whose chain verified. Apple uses one or two at a time; tests and simulators a few.
  static let rememberedSigners = 64
  /// Headers that were refused. They only spare work, so a flood may push them out.
  static let rememberedRefusals = 256
  /// Payloads that may wait for a worker: at 10,000 a second on one core, 0.4 s of work.
  package static let queuedItems = 4_096
  /// Bytes of the payloads that wait or are worked on, 64 MiB: room for ``queuedItems`` of 16 kB
  /// each. As many of ``signedLength`` would take 1 GiB.
  package static let queuedBytes = 67_108_864
  /// Payloads of one batch that one worker takes at least, about a millisecond of work: for fewer,
  /// waking another worker is not worth it.
  static let itemsPerPiece = 8
}
