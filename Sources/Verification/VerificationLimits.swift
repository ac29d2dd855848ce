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
  /// Payloads that may wait for a worker: at 10,000 a second on one core, 0.4 s of work. Imports have
  /// room of their own beside it, ``bulkShare``.
  package static let queuedItems = 4_096
  /// Bytes of the payloads that wait or are worked on, 64 MiB: room for ``queuedItems`` of 16 kB
  /// each. As many of ``signedLength`` would take 1 GiB. Imports have room of their own beside it.
  package static let queuedBytes = 67_108_864
  /// An import may fill so many times less than interactive work, in items and in bytes: half. It
  /// waits anyway, and nobody is turned away for it.
  static let bulkShare = 2
  /// While both wait, an import gets one payload for this many interactive ones, 6 % of the work:
  /// little to notice, and enough to come to its end.
  static let interactiveItemsPerBulkItem = 16
  /// Payloads of one batch that one worker takes at least, about half a millisecond of work: for
  /// fewer, waking another worker is not worth it.
  static let leastItemsPerPiece = 8
  /// Payloads that one worker takes at most before it looks at what waits, about 2 ms of work: as
  /// long may an interactive payload wait behind an import.
  static let mostItemsPerPiece = 32
  /// Bytes that one worker takes at most before it looks at what waits: the 32 payloads at twice
  /// their usual length. A longer one is a piece by itself.
  static let mostBytesPerPiece = 262_144

  // Legacy receipts.

  /// Bytes of one receipt in DER. The longest known have about 80 kB, for 187 purchases.
  package static let receiptLength = 1_048_576
  /// Bytes of the base64 of one receipt: that of ``receiptLength``, with a line break after each 64
  /// characters or fewer.
  package static let receiptTextLength = 1_572_864
  /// Elements around the signed content of a receipt, and how deep they nest. Apple's have about
  /// 280, ten deep: the names and extensions of three certificates.
  package static let receiptElements = 4_096
  package static let receiptDepth = 32
  /// Bytes of the certificates of one receipt, and of what else stands around the signed content
  /// and the signature. Apple's have 4 kB. It is judged before anything is known of its sender, and
  /// kept for each signer.
  static let receiptEnvelopeLength = 16_384
  /// Attributes of one receipt beside its purchases, and of one purchase. Apple's have about 25.
  static let receiptAttributes = 1_024
  /// Purchases of one receipt: at 350 bytes each more than ``receiptLength`` has room for.
  static let receiptItems = 4_096
  /// Bytes of a device identifier. That of an iPhone has 16, that of a Mac six.
  package static let deviceIdentifierLength = 64
  /// Bits of the key that signs receipts. Apple's has 2,048. Beyond 8,192 a check takes a
  /// millisecond.
  static let receiptKeyBits = 2_048...8_192
  /// Signers of receipts whose chain verified, 64 with ``receiptEnvelopeLength`` each: 1 MiB.
  static let rememberedReceiptSigners = 64
}
