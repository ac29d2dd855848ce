/// One page of a list.
package protocol AppStorePage: Sendable {
  /// The position of the next page; nil after the last page.
  var next: String? { get }
}

/// The pages of a list, each requested when the iteration reaches it.
///
/// A durable job stores the position of each page when it has stored its contents:
///
///     for try await page in client.historyPages(of: id, in: app, from: stored, deadline: deadline) {
///       stored = try await keep(page.signedTransactions, revision: page.revision)
///     }
///
/// A server that repeats a position, or never ends, is an error:
/// ``AppStoreServerError/Code/endlessPages``.
package struct AppStorePages<Page: AppStorePage>: AsyncSequence, Sendable {
  package typealias Failure = AppStoreServerError
  /// - Parameter position: nil for the first page.
  typealias Fetch = @Sendable (_ position: String?) async throws(AppStoreServerError) -> Page

  private let start: String?
  private let limit: Int
  private let fetch: Fetch

  /// - Parameter limit: of pages.
  init(from start: String?, limit: Int, fetch: @escaping Fetch) {
    self.start = start
    self.limit = limit
    self.fetch = fetch
  }

  /// Makes an iterator. Each iterator begins at the same position.
  package func makeAsyncIterator() -> AsyncIterator {
    AsyncIterator(position: start, limit: limit, fetch: fetch)
  }

  package struct AsyncIterator: AsyncIteratorProtocol {
    private var position: String?
    private var left: Int
    private var seen: Set<String>
    private var isAtEnd = false
    private let fetch: Fetch

    init(position: String?, limit: Int, fetch: @escaping Fetch) {
      self.position = position
      left = limit
      seen = position.map { [$0] } ?? []
      self.fetch = fetch
    }

    /// The next page; nil after the last one.
    package mutating func next() async throws(AppStoreServerError) -> Page? {
      guard !isAtEnd else { return nil }
      guard left > 0 else {
        isAtEnd = true
        throw AppStoreServerError(.endlessPages, "the list has more pages than are read at once")
      }
      left -= 1
      let page: Page
      do throws(AppStoreServerError) {
        page = try await fetch(position)
      } catch {
        isAtEnd = true
        throw error
      }
      guard let next = page.next else {
        isAtEnd = true
        return page
      }
      guard seen.insert(next).inserted else {
        isAtEnd = true
        throw .repeatedPosition
      }
      position = next
      return page
    }

    /// The next page, on the caller's actor.
    package mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws(AppStoreServerError) -> Page? {
      try await next()
    }
  }
}

extension AppStoreServerError {
  static let repeatedPosition = AppStoreServerError(
    .endlessPages, "a page that has a next one repeats its position")
}
