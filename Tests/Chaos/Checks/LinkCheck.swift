import EntitlementDomain
import PostgresStore
import RPCClient
import Wire

/// Checks that no chain has two owners, that every history leads to its owner step by step, and
/// that it has every answered claim and change.
struct LinkCheck: Sendable {
  let load: LoadContext

  /// One stored step.
  private struct Event: Hashable, Sendable {
    let from: String
    let to: String
    let reason: String
    let note: String
  }

  private struct Stored: Sendable {
    var events: [String: [Event]] = [:]
    /// By target; empty without an account.
    var owners: [String: String] = [:]
    /// By target: the accounts that list it.
    var listings: [String: [String]] = [:]
  }

  /// Runs on one snapshot. Absent accounts are empty strings. The events that are kept with links are
  /// those of `PlainLinkEvent`.
  private static let sql = """
    SELECT tag, encode(target, 'hex'), position, a, b, c, d FROM (
      SELECT 'event' AS tag, target, position, coalesce(from_account, '') AS a,
        coalesce(to_account, '') AS b, reason AS c, coalesce(note, '') AS d FROM link_events
      UNION ALL SELECT 'event', target, event_position, '', account,
        CASE event_reason WHEN 1 THEN 'named' WHEN 2 THEN 'appAccountToken'
          WHEN 3 THEN 'appTransaction' WHEN 4 THEN 'previousChain' ELSE 'imported' END, ''
      FROM links WHERE event_position IS NOT NULL
      UNION ALL SELECT 'owner', target, 0, coalesce(account, ''), '', '', '' FROM links
      UNION ALL SELECT 'listing', held.target, 0, account, '', '', ''
      FROM accounts CROSS JOIN LATERAL unnest(
        ARRAY[first_target, second_target] || more_targets) AS held (target)
      WHERE held.target IS NOT NULL
    ) AS everything ORDER BY tag, target, position
    """
  /// Whether the database itself allows only one owner.
  private static let constraintSQL = """
    SELECT count(*) FROM pg_index WHERE indrelid = 'links'::regclass AND indisunique AND indisvalid
      AND (SELECT array_agg(attname::text ORDER BY attname) FROM pg_attribute
        WHERE attrelid = indrelid AND attnum = ANY (indkey)) = ARRAY['scope', 'target']
    """

  func checkDatabase(_ database: DatabaseNode) async throws {
    let known = load.record.contents
    let constraints = try await database.rows(Self.constraintSQL)
    if constraints.first?.first == "0" {
      load.findings.add(.twoOwners, "no constraint of the database forbids it")
    }
    let stored = Self.read(try await database.rows(Self.sql))
    checkOwners(stored)
    checkHistories(stored)
    checkAnswered(known, stored)
  }

  private static func read(_ rows: [[Substring]]) -> Stored {
    var stored = Stored()
    for row in rows where row.count == 7 {
      let target = name(hexadecimal: row[1])
      switch row[0] {
      case "event":
        stored.events[target, default: []].append(
          Event(
            from: String(row[3]), to: String(row[4]), reason: String(row[5]), note: String(row[6])))
      case "owner": stored.owners[target] = String(row[3])
      default: stored.listings[target, default: []].append(String(row[3]))
      }
    }
    return stored
  }

  private func checkOwners(_ stored: Stored) {
    for (target, accounts) in stored.listings where accounts.count > 1 {
      load.findings.add(.twoOwners, "\(target): \(accounts)")
    }
    for (target, owner) in stored.owners {
      let listed = stored.listings[target] ?? []
      if listed != (owner.isEmpty ? [] : [owner]) {
        load.findings.add(.twoOwners, "\(target): owner \(owner), listed for \(listed)")
      }
    }
    for target in stored.listings.keys where stored.owners[target] == nil {
      load.findings.add(.twoOwners, "\(target) is listed without a link")
    }
  }

  private func checkHistories(_ stored: Stored) {
    for (target, events) in stored.events {
      var owner = ""
      for event in events {
        if event.from != owner || event.to == event.from {
          load.findings.add(
            .brokenHistory, "\(target): from \(event.from) to \(event.to) when \(owner) had it")
        }
        owner = event.to
      }
      if stored.owners[target] != owner {
        load.findings.add(
          .brokenHistory, "\(target): \(stored.owners[target] ?? "nobody"), history says \(owner)")
      }
    }
    for (target, owner) in stored.owners where !owner.isEmpty && stored.events[target] == nil {
      load.findings.add(.brokenHistory, "\(target): \(owner) without a history")
    }
  }

  private func checkAnswered(_ known: AnswerRecord.Contents, _ stored: Stored) {
    for (claim, count) in known.claims {
      let events = stored.events[Self.name(claim.target)] ?? []
      let found = events.count { $0.to == claim.account.rawValue && $0.note.isEmpty }
      if found < count {
        load.findings.add(
          .linkLost, "\(claim.target) to \(claim.account): \(found) times, answered \(count)")
      }
    }
    for change in known.changes {
      let events = stored.events[Self.name(change.target)] ?? []
      let found = events.count {
        $0.note == change.note && $0.to == change.account?.rawValue ?? ""
      }
      if found != 1 {
        load.findings.add(
          .linkLost, "\(change.target), note \(change.note): \(found) times in the history")
      }
    }
  }

  /// The name of a stored target.
  private static func name(hexadecimal text: Substring) -> String {
    guard let target = try? LinkTarget(stored: StoredBytes.decode(text)) else {
      return String(text)
    }
    return name(target)
  }

  /// The name of a target.
  private static func name(_ target: LinkTarget) -> String {
    switch target {
    case .chain(let id): "c\(id)"
    case .appTransaction(let id): "t\(id)"
    }
  }

  /// Compares the contested chains of the service with the database, when no client claims any
  /// more.
  func checkService(_ database: DatabaseNode) async throws {
    let stored = Self.read(try await database.rows(Self.sql))
    let lane = ClientLane(load, random: load.random(.random(in: 1_000...9_999)))
    for chain in load.contested {
      let request = GetLinkHistoryRequest(
        scope: CustomerStock.scope, subject: .target(chain.target))
      let answer = await lane.call("link history") { (client) async throws(RPCClientError) in
        try await client.linkHistory(request)
      }
      guard let answer else { continue }
      let told = answer.events.map {
        Event(
          from: $0.fromAccountID?.rawValue ?? "", to: $0.toAccountID?.rawValue ?? "",
          reason: $0.reason?.rawValue ?? "", note: $0.note ?? "")
      }
      if told != (stored.events[Self.name(chain.target)] ?? []).suffix(told.count) || told.isEmpty {
        load.findings.add(.brokenHistory, "\(chain.chain): the service returns another one")
      }
    }
    await lane.drop()
  }
}
