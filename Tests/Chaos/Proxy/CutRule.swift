/// Where a connection to the database is cut. Only requests long enough for a write count: reads
/// are shorter than one signed payload.
enum CutRule: Hashable, Sendable, CustomStringConvertible {
  /// After this many forwarded bytes of a request, or when its answer comes: the database gets a
  /// part of the request, or all of it.
  case afterBytes(Int)
  /// Before the first bytes of the answer are forwarded: the database has committed, and the client
  /// does not learn it.
  case beforeAnswer

  /// In bytes.
  static let smallestRequest = 1_000

  var description: String {
    switch self {
    case .afterBytes(let count): "after \(count) bytes of a request"
    case .beforeAnswer: "before the answer"
    }
  }
}
