/// All elements of a list that the server sends in pages, in the order of the list. Each page is
/// requested when the iteration reaches it. Elements that are added during the iteration may be
/// missing.
public struct PageSequence<Element: Sendable>: AsyncSequence, Sendable {
  /// The error of a request for a page.
  public typealias Failure = RPCClientError

  /// One page, and the token of the next one; the token is nil for the last page.
  typealias Page = (items: [Element], nextToken: String?)
  /// - Parameter token: nil for the first page.
  typealias Fetch = @Sendable (_ token: String?) async throws(RPCClientError) -> Page

  private let fetch: Fetch

  init(fetch: @escaping Fetch) {
    self.fetch = fetch
  }

  /// Makes an iterator. Each iterator starts at the first page.
  public func makeAsyncIterator() -> AsyncIterator {
    AsyncIterator(fetch: fetch)
  }

  /// Reads the elements of all pages.
  public struct AsyncIterator: AsyncIteratorProtocol {
    private let fetch: Fetch
    private var nextToken: String?
    private var isLast = false
    private var page: ArraySlice<Element> = []

    init(fetch: @escaping Fetch) {
      self.fetch = fetch
    }

    /// The next element. Requests the next page after the last element of a page.
    ///
    /// - Returns: the element; nil after the last one.
    /// - Throws: ``RPCClientError`` when the request for a page fails.
    public mutating func next() async throws(RPCClientError) -> Element? {
      while page.isEmpty, !isLast {
        let fetched = try await fetch(nextToken)
        page = fetched.items[...]
        nextToken = fetched.nextToken
        isLast = nextToken == nil
      }
      return page.popFirst()
    }

    /// The next element, on the caller's actor.
    ///
    /// - Returns: the element; nil after the last one.
    /// - Throws: ``RPCClientError`` when the request for a page fails.
    public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws(RPCClientError) -> Element? {
      try await next()
    }
  }
}
