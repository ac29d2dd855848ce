/// Where a connection to the database is cut. Only requests long enough to write something count:
/// those that read are shorter than one signed payload.
enum CutRule: Hashable, Sendable, CustomStringConvertible {
  /// After so many bytes of a request have gone on, or when its answer comes: the database gets a
  /// part of it, or all.
  case afterBytes(Int)
  /// When the first bytes of the answer come: the database has done it, and nobody is told.
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
