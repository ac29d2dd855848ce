package import Wire

/// The chains of an app and environment that no account has, by id. Pages are fetched while it is
/// read; chains that come in meanwhile may or may not be seen.
package struct UnlinkedChainSequence: AsyncSequence, Sendable {
  package typealias Element = UnlinkedChainEntry
  package typealias Failure = RPCClientError

  let client: EntitlementClient
  let firstPage: ListUnlinkedChainsRequest

  package func makeAsyncIterator() -> AsyncIterator {
    AsyncIterator(client: client, nextPage: firstPage)
  }

  package struct AsyncIterator: AsyncIteratorProtocol {
    private let client: EntitlementClient
    /// Nil when the last page was fetched.
    private var nextPage: ListUnlinkedChainsRequest?
    private var page: ArraySlice<UnlinkedChainEntry> = []

    init(client: EntitlementClient, nextPage: ListUnlinkedChainsRequest) {
      self.client = client
      self.nextPage = nextPage
    }

    package mutating func next() async throws(RPCClientError) -> UnlinkedChainEntry? {
      while page.isEmpty, let request = nextPage {
        let response = try await client.listUnlinkedChains(request)
        page = response.chains[...]
        nextPage = response.nextPageToken.map { token in
          var following = request
          following.pageToken = token
          return following
        }
      }
      return page.popFirst()
    }

    package mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws(RPCClientError) -> UnlinkedChainEntry? {
      try await next()
    }
  }
}
