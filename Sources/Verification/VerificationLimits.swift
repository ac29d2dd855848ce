/// Limits of verification.
package enum VerificationLimits {
  /// Bytes of one JWS. A longer one is refused without parsing. Apple's notifications have about 25
  /// kB, and much more if both inner payloads, encoded in base64 twice, list the items of a
  /// subscription (Advanced Commerce). A genuine one that is refused is lost, so the limit is
  /// generous; ``queuedBytes`` bounds the total.
  package static let signedLength = 262_144
  /// Bytes of one header segment. Apple's has about 5 kB: three certificates, encoded in base64
  /// twice. It is parsed before the sender is known, and cached for each signer.
  static let headerLength = 16_384
  /// Maximum number of certificates parsed from one header. More than three are read only to report
  /// their number.
  static let certificates = 8
  /// Cached signers with a validated chain. Apple uses one or two at a time; tests and simulators a
  /// few.
  static let cachedSigners = 64
  /// Signers with a table of their key's multiples, of some 150 kB each: twice what Apple uses at a
  /// time, and some for Sandbox, tests and simulators.
  static let signerTables = 8
  /// Valid signatures after which a signer is worth a table, and after as many again if there was no
  /// room. Making one costs as much as the table saves in them.
  static let verificationsForTable = 1_024
  /// Time between two tables. Making one takes some 20 ms on a thread that no payload waits for.
  static let tableInterval = Duration.seconds(10)
  /// Cached refusals of headers. They only save work, so a flood may evict them.
  static let cachedRefusals = 256
  /// Queued interactive payloads: at 10,000 a second on one core, 0.4 s of work. Imports have a
  /// separate limit of half of it.
  package static let queuedItems = 4_096
  /// Bytes of queued and running interactive payloads, 64 MiB: ``queuedItems`` of 16 kB each. As
  /// many of ``signedLength`` would take 1 GiB. Imports have a separate limit.
  package static let queuedBytes = 67_108_864
  /// Minimum payloads of a chunk, about 0.5 ms of work. Waking another worker for fewer is not
  /// worth it.
  static let minimumItemsPerChunk = 8
  /// Maximum payloads of a chunk, about 2 ms of work. An interactive payload may wait this long
  /// behind an import.
  static let maximumItemsPerChunk = 32
  /// Working time of a turn: about that of ``maximumItemsPerChunk``. A payload of an unknown signer
  /// costs fifteen usual ones, so its sender gets fewer of them in a turn.
  static let turnTime = Duration.milliseconds(4)
  /// Maximum bytes of a chunk: 32 payloads of twice the usual length. A longer payload is a chunk
  /// of its own.
  static let maximumBytesPerChunk = 262_144

  // Legacy receipts.

  /// Bytes of one receipt in DER. The longest known have about 80 kB, for 187 purchases.
  package static let receiptLength = 1_048_576
  /// Bytes of one receipt in base64: ``receiptLength`` with a line break after every 64 characters
  /// or fewer.
  package static let receiptTextLength = 1_572_864
  /// Bytes of one archived response, which has its purchases twice: a weekly subscription of nine years,
  /// 470 purchases of up to 1.3 kB, has more than 1 MiB. 4 MiB less 4 KiB: the rest of a frame holds the
  /// other fields of the request.
  package static let archiveLength = 4_190_208
  /// Maximum number of DER elements around the signed content. Apple's receipts have about 280: the
  /// names and extensions of three certificates.
  package static let receiptElements = 4_096
  /// Maximum nesting depth of these elements. Apple's receipts have ten levels.
  package static let receiptDepth = 32
  /// Maximum nesting depth of elements of indefinite length, which Xcode writes. Its receipts have
  /// six levels. Each level copies what is inside it once.
  static let receiptIndefiniteDepth = 16
  /// Bytes of the certificates and of everything else around the signed content and the signature.
  /// Apple's receipts have 4 kB. They are parsed before the sender is known, and cached for each
  /// signer.
  static let receiptEnvelopeLength = 16_384
  /// Attributes of one receipt, purchases excluded, and of one purchase. Apple's have about 25.
  static let receiptAttributes = 1_024
  /// Purchases of one receipt or archived response. In a receipt, at 350 bytes each, ``receiptLength`` is
  /// reached first.
  static let receiptItems = 4_096
  /// Bytes of a device identifier. An iPhone has 16, a Mac six.
  package static let deviceIdentifierLength = 64
  /// Bits of a receipt signing key. Apple's has 2,048. Above 8,192, a check takes a millisecond.
  static let receiptKeyBits = 2_048...8_192
  /// Cached receipt signers with a validated chain: 64 with ``receiptEnvelopeLength`` each take 1
  /// MiB.
  static let cachedReceiptSigners = 64
}
