/// What a server lists page by page, in the order of the list. Pages are fetched while it is read; what
/// comes in meanwhile may or may not be seen.
public struct PageSequence<Element: Sendable>: AsyncSequence, Sendable {
  public typealias Failure = RPCClientError

  /// One page; the token of the one that follows it is nil for the last.
  typealias Page = (items: [Element], nextToken: String?)
  /// - Parameter token: nil for the first page.
  typealias Fetch = @Sendable (_ token: String?) async throws(RPCClientError) -> Page

  private let fetch: Fetch

  init(fetch: @escaping Fetch) {
    self.fetch = fetch
  }

  public func makeAsyncIterator() -> AsyncIterator {
    AsyncIterator(fetch: fetch)
  }

  public struct AsyncIterator: AsyncIteratorProtocol {
    private let fetch: Fetch
    private var nextToken: String?
    private var isLast = false
    private var page: ArraySlice<Element> = []

    init(fetch: @escaping Fetch) {
      self.fetch = fetch
    }

    public mutating func next() async throws(RPCClientError) -> Element? {
      while page.isEmpty, !isLast {
        let fetched = try await fetch(nextToken)
        page = fetched.items[...]
        nextToken = fetched.nextToken
        isLast = nextToken == nil
      }
      return page.popFirst()
    }

    public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws(RPCClientError) -> Element? {
      try await next()
    }
  }
}
