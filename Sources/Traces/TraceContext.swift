/// The id of a trace: 16 bytes (https://www.w3.org/TR/trace-context/, section 3.2.2.3).
package struct TraceID: Hashable, Sendable {
  let high: UInt64
  let low: UInt64

  /// - Returns: nil if both are 0, which no trace may have.
  package init?(high: UInt64, low: UInt64) {
    guard high != 0 || low != 0 else { return nil }
    self.high = high
    self.low = low
  }

  static func random() -> TraceID {
    var random = SystemRandomNumberGenerator()
    while true {
      if let id = TraceID(high: random.next(), low: random.next()) { return id }
    }
  }

  /// - Parameter bytes: 16, as ``bytes``; nil for another number of them.
  package init?(bytes: [UInt8]) {
    guard bytes.count == 16 else { return nil }
    func number(_ half: ArraySlice<UInt8>) -> UInt64 { half.reduce(0) { $0 << 8 | UInt64($1) } }
    self.init(high: number(bytes.prefix(8)), low: number(bytes.suffix(8)))
  }

  /// In the order of ``hexadecimal``.
  package var bytes: [UInt8] {
    [high, low].flatMap { half in
      stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: half >> UInt64($0)) }
    }
  }

  /// 32 digits in lower case.
  package var hexadecimal: String { Hexadecimal.text(high) + Hexadecimal.text(low) }
}

/// The id of a span: 8 bytes (section 3.2.2.4).
package struct SpanID: Hashable, Sendable {
  let value: UInt64

  /// - Returns: nil for 0, which no span may have.
  package init?(_ value: UInt64) {
    guard value != 0 else { return nil }
    self.value = value
  }

  static func random() -> SpanID {
    var random = SystemRandomNumberGenerator()
    while true {
      if let id = SpanID(random.next()) { return id }
    }
  }

  /// 16 digits in lower case.
  package var hexadecimal: String { Hexadecimal.text(value) }
}

/// What a span is a child of, as the caller sent it or as it is here.
package struct TraceContext: Hashable, Sendable {
  package let traceID: TraceID
  /// Nil: the trace begins here.
  package let spanID: SpanID?
  package let isSampled: Bool
  /// The list of other vendors, as it came; empty if there is none or it is not valid.
  package let state: String
  /// Whether the span is one of the caller's.
  package let isRemote: Bool

  /// The beginning of a trace.
  package static func root() -> TraceContext {
    TraceContext(
      traceID: .random(), spanID: nil, isSampled: true, state: "", isRemote: false)
  }

  /// What a span of this process is to its children.
  func withSpan(_ id: SpanID) -> TraceContext {
    TraceContext(traceID: traceID, spanID: id, isSampled: isSampled, state: state, isRemote: false)
  }

  private init(traceID: TraceID, spanID: SpanID?, isSampled: Bool, state: String, isRemote: Bool) {
    self.traceID = traceID
    self.spanID = spanID
    self.isSampled = isSampled
    self.state = state
    self.isRemote = isRemote
  }
}

// MARK: Reading what a caller sent

extension TraceContext {
  /// The length of version 00, and where its parts are.
  private static let length = 55
  private static let traceDigits = 3..<35
  private static let spanDigits = 36..<52
  private static let flagDigits = 53..<55
  /// Later versions may be longer. More is not read.
  private static let maximumLength = 256

  /// Reads the headers of a caller (section 3.2). A state that is not valid is ignored, and the parent
  /// counts (section 3.3).
  ///
  /// - Parameters:
  ///   - parents: the values of `traceparent`. There must be one.
  ///   - states: the values of `tracestate`.
  /// - Returns: nil if they are not valid. The call is then as one without them (section 4.3).
  package init?(parents: [String], states: [String] = []) {
    guard parents.count == 1 else { return nil }
    let bytes = Array(parents[0].utf8.prefix(Self.maximumLength + 1))
    guard (Self.length...Self.maximumLength).contains(bytes.count),
      let version = Hexadecimal.value(bytes[0..<2]), version != 0xff,
      [2, 35, 52].allSatisfy({ bytes[$0] == UInt8(ascii: "-") })
    else { return nil }
    // What follows in a later version begins with a dash.
    let isWhole =
      bytes.count == Self.length || version > 0 && bytes[Self.length] == UInt8(ascii: "-")
    let digits = bytes[Self.traceDigits]
    guard isWhole, let high = Hexadecimal.value(digits.prefix(16)),
      let low = Hexadecimal.value(digits.suffix(16)), let traceID = TraceID(high: high, low: low),
      let span = Hexadecimal.value(bytes[Self.spanDigits]), let spanID = SpanID(span),
      let flags = Hexadecimal.value(bytes[Self.flagDigits])
    else { return nil }
    self.init(
      traceID: traceID, spanID: spanID, isSampled: flags & 1 == 1,
      state: TraceState.joined(states) ?? "", isRemote: true)
  }
}

/// `tracestate` (section 3.3): a list of `KEY=VALUE`, which is only passed on.
enum TraceState {
  private static let maximumMembers = 32
  /// What must be passed on at least. More is not.
  private static let maximumLength = 512

  /// - Returns: nil if the list is not valid, or longer than what is passed on.
  static func joined(_ values: [String]) -> String? {
    guard values.count <= maximumMembers, values.allSatisfy({ $0.utf8.count <= maximumLength })
    else { return nil }
    let text = values.joined(separator: ",")
    guard text.utf8.count <= maximumLength else { return nil }
    var keys: Set<String> = []
    var members: [Substring] = []
    for part in text.split(separator: ",") {
      var member = part.drop(while: isSpace)
      while let last = member.last, isSpace(last) { member.removeLast() }
      // Empty members are allowed.
      if member.isEmpty { continue }
      guard let sign = member.firstIndex(of: "="), isKey(member[..<sign].utf8),
        isValue(member[member.index(after: sign)...].utf8),
        keys.insert(String(member[..<sign])).inserted
      else { return nil }
      members.append(member)
    }
    return members.count <= maximumMembers ? members.joined(separator: ",") : nil
  }

  /// What may stand on both sides of a comma.
  private static func isSpace(_ character: Character) -> Bool {
    character == " " || character == "\t"
  }

  private static func isKey(_ key: Substring.UTF8View) -> Bool {
    guard (1...256).contains(key.count), let first = key.first, isLetterOrDigit(first) else {
      return false
    }
    return key.allSatisfy { isLetterOrDigit($0) || "_-*/@".utf8.contains($0) }
  }

  private static func isValue(_ value: Substring.UTF8View) -> Bool {
    (1...256).contains(value.count)
      && value.allSatisfy { (0x20...0x7e).contains($0) && $0 != UInt8(ascii: "=") }
  }

  private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
      || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
  }
}

private enum Hexadecimal {
  /// The value of at most 16 digits in lower case; nil for anything else.
  static func value(_ digits: ArraySlice<UInt8>) -> UInt64? {
    var value: UInt64 = 0
    for digit in digits {
      switch digit {
      case UInt8(ascii: "0")...UInt8(ascii: "9"):
        value = value << 4 | UInt64(digit - UInt8(ascii: "0"))
      case UInt8(ascii: "a")...UInt8(ascii: "f"):
        value = value << 4 | UInt64(digit - UInt8(ascii: "a") + 10)
      default: return nil
      }
    }
    return value
  }

  /// 16 digits.
  static func text(_ value: UInt64) -> String {
    let digits = String(value, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }
}
