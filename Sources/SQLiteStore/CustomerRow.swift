/// A customer by its row: an account, or a chain without one.
enum CustomerRow: Hashable {
  case account(Int64)
  case chain(Int64)
}
