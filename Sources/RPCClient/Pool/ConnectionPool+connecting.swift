import Framing
import NIOCore

// Opening connections.
extension ConnectionPool {
  /// Opens the first connection, to the first server that can be reached.
  ///
  /// - Throws: ``RPCClientError`` with `unreachable` when no server can be reached.
  func connectFirst() async throws(RPCClientError) {
    var failure = RPCClientError.noAddress
    for slot in addresses.indices where startConnecting(slot) {
      do throws(RPCClientError) {
        return connected(slot, try await connection(to: slot))
      } catch {
        connectFailed(slot, error)
        failure = error
      }
    }
    throw failure
  }

  func connect(_ slot: Int, to address: Int) async {
    do throws(RPCClientError) {
      connected(slot, try await connection(to: address))
    } catch {
      connectFailed(slot, error)
    }
  }

  /// Connects to one server.
  ///
  /// - Parameters:
  ///   - address: the index of the server's address.
  ///   - deadline: the deadline of the call that needs the connection.
  func connection(
    to address: Int, until deadline: NIODeadline = .distantFuture
  ) async throws(RPCClientError) -> RPCConnection {
    let rest = deadline.rest(at: .now()) ?? connectTimeout
    if rest <= .zero { throw .deadlineExceeded.unsent }
    do throws(RPCClientError) {
      return try await RPCConnection.connect(
        to: RPCTarget(addresses[address], tls: tls, token: token),
        connectTimeout: min(connectTimeout, rest), limits: limits, eventLoopGroup: eventLoopGroup)
    } catch {
      throw deadline <= .now() ? .deadlineExceeded.unsent : error
    }
  }

  private func startConnecting(_ slot: Int) -> Bool {
    decide { state, _ in state.connectionStarted(slot: slot) }
  }

  private func connected(_ slot: Int, _ connection: RPCConnection) {
    let member = decide { state, actions in
      state.connected(slot: slot, connection, now: .now(), &actions)
    }
    guard let member else { return }
    connection.onClose { [weak self] in
      self?.decide { state, actions in
        state.connectionClosed(member, now: .now(), &actions)
      }
    }
  }

  private func connectFailed(_ slot: Int, _ error: RPCClientError) {
    decide { state, actions in
      state.connectFailed(slot: slot, error, now: .now(), &actions)
    }
  }
}
