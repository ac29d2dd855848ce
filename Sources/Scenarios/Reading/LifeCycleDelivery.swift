/// How a life cycle reaches the server.
enum LifeCycleDelivery: String, CaseIterable {
  case notifications
  case transactions
}
