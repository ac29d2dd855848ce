import Glibc
package import NIOCore
package import NIOHTTP1

/// A complete response. Thrown where a request cannot become a call.
package struct HTTPAnswer: Error, Sendable {
  package var status: HTTPResponseStatus
  package var fields: [(String, String)]
  package var body: ByteBuffer
  /// Whether the connection is closed after it.
  package var closes = false
  /// What the refused request costs its connection, in tokens of
  /// ``HTTPFrontLimits/refusedRequests``.
  package var penalty = 0

  package init(
    _ status: HTTPResponseStatus, contentType: String, body: ByteBuffer,
    fields: [(String, String)] = []
  ) {
    self.status = status
    self.fields = [("content-type", contentType)] + fields
    self.body = body
  }

  /// A text for people.
  package init(_ status: HTTPResponseStatus, text: String, fields: [(String, String)] = []) {
    self.init(
      status, contentType: "text/plain; charset=utf-8", body: ByteBuffer(string: text + "\n"),
      fields: fields)
  }

  /// Without a body.
  package init(_ status: HTTPResponseStatus, fields: [(String, String)]) {
    self.status = status
    self.fields = fields
    body = ByteBuffer()
  }

  /// Names what the path has instead of the method of the request (RFC 9110 section 15.5.6).
  package static func notAllowed(_ methods: String) -> HTTPAnswer {
    HTTPAnswer(.methodNotAllowed, text: "use \(methods)", fields: [("allow", methods)])
  }

  /// The request is for the name of another machine (RFC 9110 section 15.5.20).
  static let misdirected = HTTPAnswer(
    .misdirectedRequest, text: "use localhost or a loopback address")

  package static let notFound = HTTPAnswer(.notFound, text: "there is nothing at this path")

  /// The value of `Retry-After`: whole seconds, at least one (RFC 9110 section 10.2.3).
  package static func retryAfter(_ delay: Duration) -> (String, String) {
    let (seconds, attoseconds) = delay.components
    return ("retry-after", String(max(1, seconds + (attoseconds > 0 ? 1 : 0))))
  }
}

/// The time of an answer, as HTTP writes it (RFC 9110 section 5.6.7).
enum HTTPDate {
  private static let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
  private static let months = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]

  static func text(_ seconds: Int) -> String {
    var moment = time_t(seconds)
    var parts = tm()
    gmtime_r(&moment, &parts)
    func two(_ number: CInt) -> String { number < 10 ? "0\(number)" : "\(number)" }
    return "\(days[Int(parts.tm_wday)]), \(two(parts.tm_mday)) \(months[Int(parts.tm_mon)]) "
      + "\(parts.tm_year + 1900) \(two(parts.tm_hour)):\(two(parts.tm_min)):\(two(parts.tm_sec)) GMT"
  }

  static var now: String {
    var now = timespec()
    clock_gettime(CLOCK_REALTIME, &now)
    return text(now.tv_sec)
  }
}
