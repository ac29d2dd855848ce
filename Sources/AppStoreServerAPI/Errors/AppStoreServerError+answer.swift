import AppStorePayloads
import EntitlementDomain
import NIOHTTP1
import OutboundHTTP

extension AppStoreServerError {
  /// Characters of Apple's text that are kept. Apple's own have at most 100.
  private static let messageLength = 256

  /// The error of an answer whose status is not 2xx.
  ///
  /// - Parameters:
  ///   - now: what `Retry-After` is compared with.
  ///   - longestWait: the longest time from now that `Retry-After` is waited for.
  init(_ answer: OutboundAnswer, now: Milliseconds, longestWait: Duration) {
    let status = answer.status
    let fields = try? PayloadFields(json: answer.body)
    let number = (try? fields?.integer("errorCode")) ?? nil
    let errorCode = number.map(AppStoreErrorCode.init(rawValue:))
    let suffix = errorCode.map { ", \($0)" } ?? ""
    switch status {
    case 300..<400:
      self.init(.invalidResponse, "HTTP \(status): redirects are not followed")
    case 401:
      self.init(.unauthorized, "HTTP 401\(suffix): the token was refused")
    case 429:
      self.init(.rateLimited, "HTTP 429\(suffix)", isRetryable: true)
      retryAt = answer.headers.first(name: "retry-after").flatMap {
        RetryAfter.moment($0, now: now, longestWait: longestWait)
      }
    default:
      self.init(
        .refused, "HTTP \(status)\(suffix)",
        isRetryable: (500..<600).contains(status) || errorCode?.isRetryable == true)
    }
    self.status = status
    self.errorCode = errorCode
    appleMessage = ((try? fields?.text("errorMessage")) ?? nil).map(Self.plain)
  }

  /// The error of an answer that is not as Apple documents it.
  init(_ error: PayloadError) {
    // The messages have names of fields and positions, and no values.
    self.init(.invalidResponse, error.message)
  }

  /// The beginning of a text of the server, on one line.
  private static func plain(_ text: String) -> String {
    var result = String.UnicodeScalarView()
    for scalar in text.unicodeScalars.prefix(messageLength) {
      switch scalar.properties.generalCategory {
      case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .surrogate,
        .unassigned:
        result.append(" ")
      default: result.append(scalar)
      }
    }
    return String(result)
  }
}

/// `Retry-After` of a 429.
enum RetryAfter {
  /// A date that is at most this long ago is accepted: clocks differ.
  private static let oldest: Int64 = Milliseconds.dayLength
  /// Smaller numbers are seconds from now. As seconds since 1970 it is in 2001.
  private static let leastSeconds: Int64 = 1_000_000_000
  /// Smaller numbers are seconds. As milliseconds since 1970 it is in 1973, as seconds in 5138.
  private static let leastMilliseconds: Int64 = 100_000_000_000

  /// Apple sends the absolute UNIX time in milliseconds. Other servers send seconds from now, and
  /// seconds since 1970 occur, so both are understood.
  ///
  /// - Returns: `longestWait` from now at the latest; nil for a date long past, and for no number.
  static func moment(
    _ text: String, now: Milliseconds, longestWait: Duration
  ) -> Milliseconds? {
    guard text.utf8.count <= 20, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
      let number = Int64(text)
    else { return nil }
    let moment: Milliseconds
    switch number {
    case leastMilliseconds...: moment = Milliseconds(number)
    case leastSeconds...: moment = Milliseconds(number * Milliseconds.secondsLength)
    default: moment = now.advanced(by: number * Milliseconds.secondsLength)
    }
    guard moment >= now.advanced(by: -oldest) else { return nil }
    return min(moment, now.advanced(by: longestWait.milliseconds))
  }
}

extension Duration {
  /// Whole milliseconds. Cannot overflow for limits, which are small.
  var milliseconds: Int64 {
    components.seconds * 1_000 + components.attoseconds / 1_000_000_000_000_000
  }
}
