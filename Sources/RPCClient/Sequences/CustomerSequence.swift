public import EntitlementDomain
import Wire

/// The accounts of an app and environment, by account id. Pages are fetched while it is read;
/// accounts that come in meanwhile may or may not be seen.
public struct CustomerSequence: AsyncSequence, Sendable {
  public typealias Element = CustomerState
  public typealias Failure = RPCClientError

  let client: EntitlementClient
  let firstPage: ListCustomersRequest

  public func makeAsyncIterator() -> AsyncIterator {
    AsyncIterator(client: client, nextPage: firstPage)
  }

  public struct AsyncIterator: AsyncIteratorProtocol {
    private let client: EntitlementClient
    /// Nil when the last page was fetched.
    private var nextPage: ListCustomersRequest?
    private var page: ArraySlice<CustomerState> = []

    init(client: EntitlementClient, nextPage: ListCustomersRequest) {
      self.client = client
      self.nextPage = nextPage
    }

    public mutating func next() async throws(RPCClientError) -> CustomerState? {
      while page.isEmpty, let request = nextPage {
        let response = try await client.listCustomers(request)
        page = response.customers[...]
        nextPage = response.nextPageToken.map { token in
          var following = request
          following.pageToken = token
          return following
        }
      }
      return page.popFirst()
    }

    public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws(RPCClientError) -> CustomerState? {
      try await next()
    }
  }
}
