import Cryptography
import CZstd

/// The stored form of payloads: compressed with a dictionary, whose number it names.
///
/// The first byte tells the form:
///
/// | byte | what follows |
/// |---|---|
/// | 0 | the payload as it is |
/// | 1 | the number of the dictionary, the length of the payload, a frame of zstd |
/// | 2 | a notification: the number of JWS in it, for each the length of the text before it, of its payload and of its signature; then the dictionary, the length of all that is compressed, that of the frame, and the frame; then the signatures, which cannot be compressed |
/// | 3 | as 1, of a payload in which numbers replace texts of its row (``RowTexts``) |
///
/// Other first bytes are damage. Numbers are ``VariableLength``. A frame has no magic number, no length
/// and no checksum of its own: the digest of the payload is stored beside it.
package final class PayloadCompressor: Sendable {
  /// The most bytes that a stored form may claim to expand to.
  package static let maximumByteCount = 64 << 20

  private let dictionary = PayloadDictionary.shipped
  private let compressing = ZstdContextPool<CompressionContext>()
  private let expanding = ZstdContextPool<ExpansionContext>()

  package init() {}

  // MARK: Storing

  /// - Parameters:
  ///   - header: for a notification, the header segment of its JWS in base64url. The same is needed
  ///     to read it.
  ///   - texts: what the row of the payload holds of it. The same are needed to read it.
  /// - Returns: never more than one byte more than the payload has. What is not smaller when it is
  ///   compressed is stored as it is.
  package func stored(
    _ payload: [UInt8], header: [UInt8]? = nil, texts: RowTexts = .none
  ) -> [UInt8] {
    if let header, let nested = NestedPayloads(payload, header: header),
      let stored = stored(nested), stored.count < payload.count
    {
      return stored
    }
    if let content = texts.removed(from: payload),
      let stored = stored(content, as: Form.compressedWithoutTexts, of: payload)
    {
      return stored
    }
    if let stored = stored(payload, as: Form.compressed, of: payload) { return stored }
    return [Form.plain] + payload
  }

  /// - Parameter content: what is compressed of the payload.
  /// - Returns: nil when it is no smaller, or could not be read.
  private func stored(
    _ content: [UInt8], as form: UInt8, of payload: [UInt8]
  ) -> [UInt8]? {
    guard let frame = frame(of: content), payload.count <= Self.maximumCount(of: frame)
    else { return nil }
    var stored = [form]
    VariableLength.append(dictionary.number, to: &stored)
    VariableLength.append(UInt32(payload.count), to: &stored)
    stored += frame
    return stored.count < payload.count ? stored : nil
  }

  private func stored(_ nested: NestedPayloads) -> [UInt8]? {
    let content = nested.text + nested.inner.flatMap(\.payload)
    guard let frame = frame(of: content) else { return nil }
    var stored = [Form.notification]
    VariableLength.append(UInt32(nested.inner.count), to: &stored)
    for inner in nested.inner {
      VariableLength.append(UInt32(inner.gap), to: &stored)
      VariableLength.append(UInt32(inner.payload.count), to: &stored)
      VariableLength.append(UInt32(inner.signature.count), to: &stored)
    }
    VariableLength.append(dictionary.number, to: &stored)
    VariableLength.append(UInt32(content.count), to: &stored)
    VariableLength.append(UInt32(frame.count), to: &stored)
    return stored + frame + nested.inner.flatMap(\.signature)
  }

  /// - Returns: the frame without its magic number; nil when there is nothing to compress, or no
  ///   memory for it.
  private func frame(of content: [UInt8]) -> ArraySlice<UInt8>? {
    guard !content.isEmpty, content.count <= Self.maximumByteCount else { return nil }
    let frame = compressing.withContext(CompressionContext.init) { context -> [UInt8]? in
      guard
        ZSTD_isError(ZSTD_CCtx_reset(context.pointer, ZSTD_reset_session_only)) == 0,
        ZSTD_isError(ZSTD_CCtx_refCDict(context.pointer, dictionary.compression)) == 0
      else { return nil }
      return Self.bytes(upTo: ZSTD_compressBound(content.count)) { buffer in
        let written = ZSTD_compress2(
          context.pointer, buffer.baseAddress, buffer.count, content, content.count)
        return ZSTD_isError(written) == 0 ? written : nil
      }
    }
    guard let frame, frame.count > Form.magic.count else { return nil }
    return frame[Form.magic.count...]
  }

  /// - Parameter write: writes to a buffer of these bytes, and returns their number; nil when it cannot.
  private static func bytes(
    upTo limit: Int, _ write: (UnsafeMutableBufferPointer<UInt8>) -> Int?
  ) -> [UInt8]? {
    var isWritten = false
    let bytes = [UInt8](unsafeUninitializedCapacity: limit) { buffer, count in
      guard let written = write(buffer) else { return }
      isWritten = true
      count = written
    }
    return isWritten ? bytes : nil
  }

  // MARK: Reading

  /// Whether the texts of the row are needed to read stored bytes.
  package static func needsTexts(_ stored: [UInt8]) -> Bool {
    stored.first == Form.compressedWithoutTexts
  }

  /// - Parameters:
  ///   - stored: what ``stored(_:header:texts:)`` made.
  ///   - header: for a notification, the same as when it was stored.
  ///   - texts: the same as when it was stored.
  /// - Returns: the bytes of the payload. Damage may give others: compare their digest.
  /// - Throws: ``PayloadCompressionError/unknownDictionary(_:)``, ``PayloadCompressionError/damaged``.
  package func payload(
    of stored: [UInt8], header: [UInt8]? = nil, texts: RowTexts = .none
  ) throws(PayloadCompressionError) -> [UInt8] {
    guard let form = stored.first else { throw .damaged }
    var rest = stored[1...]
    switch form {
    case Form.plain:
      return Array(rest)
    case Form.compressed, Form.compressedWithoutTexts:
      let number = try VariableLength.take(from: &rest)
      let count = try Self.count(VariableLength.take(from: &rest), of: rest)
      try checkDictionary(number)
      let payload =
        form == Form.compressed
        ? content(of: rest, upTo: count)
        : withUnsafeTemporaryAllocation(of: UInt8.self, capacity: count) { content in
          expand(rest, to: content).flatMap { written in
            texts.restored(in: UnsafeBufferPointer(rebasing: content[..<written]), count: count)
          }
        }
      guard let payload, payload.count == count else { throw .damaged }
      return payload
    case Form.notification:
      guard let header else { throw .damaged }
      return try notification(rest, header: header)
    default:
      throw .damaged
    }
  }

  private func notification(
    _ stored: ArraySlice<UInt8>, header: [UInt8]
  ) throws(PayloadCompressionError) -> [UInt8] {
    var rest = stored
    let count = try VariableLength.take(from: &rest)
    guard count <= NestedPayloads.maximumCount else { throw .damaged }
    var lengths: [(gap: Int, payload: Int, signature: Int)] = []
    for _ in 0..<count {
      let gap = Int(try VariableLength.take(from: &rest))
      let payload = Int(try VariableLength.take(from: &rest))
      lengths.append((gap, payload, Int(try VariableLength.take(from: &rest))))
    }
    let number = try VariableLength.take(from: &rest)
    let claimedCount = try VariableLength.take(from: &rest)
    let frameCount = Int(try VariableLength.take(from: &rest))
    guard frameCount <= rest.count else { throw .damaged }
    let frame = rest.prefix(frameCount)
    let contentCount = try Self.count(claimedCount, of: frame)
    try checkDictionary(number)
    guard var content = content(of: frame, upTo: contentCount)?[...] else { throw .damaged }
    var signatures = rest.dropFirst(frameCount)
    let payloadCount = lengths.reduce(0) { $0 + $1.payload }
    guard content.count == contentCount,
      lengths.reduce(0, { $0 + $1.gap }) + payloadCount <= content.count,
      lengths.reduce(0, { $0 + $1.signature }) == signatures.count
    else { throw .damaged }
    var payloads = content.suffix(payloadCount)
    content = content.dropLast(payloadCount)
    var payload: [UInt8] = []
    for length in lengths {
      payload += content.prefix(length.gap)
      payload += header
      payload.append(UInt8(ascii: "."))
      payload += Base64Form.urlWithoutPadding.encode(Array(payloads.prefix(length.payload)))
      payload.append(UInt8(ascii: "."))
      payload += Base64Form.urlWithoutPadding.encode(Array(signatures.prefix(length.signature)))
      content = content.dropFirst(length.gap)
      payloads = payloads.dropFirst(length.payload)
      signatures = signatures.dropFirst(length.signature)
    }
    return payload + content
  }

  private func checkDictionary(_ number: UInt32) throws(PayloadCompressionError) {
    guard number == dictionary.number else { throw .unknownDictionary(number) }
  }

  /// As ``expand(_:to:)``.
  private func content(of frame: ArraySlice<UInt8>, upTo limit: Int) -> [UInt8]? {
    Self.bytes(upTo: limit) { expand(frame, to: $0) }
  }

  /// - Returns: the bytes of the content; nil when the frame is damaged, has more content than there is
  ///   room for, or there is no memory for a context.
  private func expand(
    _ frame: ArraySlice<UInt8>, to content: UnsafeMutableBufferPointer<UInt8>
  ) -> Int? {
    let count = Form.magic.count + frame.count
    return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: count) { complete in
      let start = complete.initialize(fromContentsOf: Form.magic)
      _ = complete[start...].initialize(fromContentsOf: frame)
      return expanding.withContext(ExpansionContext.init) { context in
        let written = ZSTD_decompress_usingDDict(
          context.pointer, content.baseAddress, content.count, complete.baseAddress, count,
          dictionary.expansion)
        return ZSTD_isError(written) == 0 ? written : nil
      }
    }
  }

  /// Checks the length that is stored with a frame before memory is allocated for it.
  ///
  /// - Throws: ``PayloadCompressionError/damaged`` when a frame of this size cannot hold so many bytes.
  private static func count(
    _ claimed: UInt32, of frame: ArraySlice<UInt8>
  ) throws(PayloadCompressionError) -> Int {
    guard Int(claimed) <= maximumCount(of: frame) else { throw .damaged }
    return Int(claimed)
  }

  /// The most bytes that a frame may claim to hold: a block has at least 4 bytes, and at most 128 KiB of
  /// content (RFC 8878 section 3.1.1.2).
  private static func maximumCount(of frame: ArraySlice<UInt8>) -> Int {
    min(maximumByteCount, (frame.count / 4 + 1) << 17)
  }

  private enum Form {
    static let plain: UInt8 = 0
    static let compressed: UInt8 = 1
    static let notification: UInt8 = 2
    static let compressedWithoutTexts: UInt8 = 3
    /// The magic number of zstd (RFC 8878 section 3.1.1), which stored frames lack.
    static let magic: [UInt8] = [0x28, 0xB5, 0x2F, 0xFD]
  }
}
