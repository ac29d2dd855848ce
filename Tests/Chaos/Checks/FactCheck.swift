import EntitlementDomain
import EntitlementStore
import RPCClient

/// Checks that every answered submission is stored: each fact by its key with its digest, and each
/// notification.
struct FactCheck: Sendable {
  let load: LoadContext

  private struct Row: Sendable {
    let key: FactKey
    let digest: String
  }

  /// Checks all answers.
  func checkDatabase(_ database: DatabaseNode) async throws {
    // Taken before the rows are read: later answers may not be among the rows.
    let known = load.record.contents
    let rows = try await database.rows(
      """
      SELECT kind, encode(
          CASE WHEN identifier IN ('', '\\xfd') THEN substring(target FROM 2) ELSE identifier END,
          'hex'),
        encode(digest, 'hex')
      FROM facts
      """)
    var stored: [FactKey: String] = [:]
    for row in rows where row.count == 3 {
      guard let kind = Int(row[0]).flatMap({ FactKind(rawValue: $0) }) else { continue }
      let key = FactKey(
        kind: kind, identifier: try PackedIdentifier.text(of: StoredBytes.decode(row[1])))
      if stored.updateValue(String(row[2]), forKey: key) != nil {
        load.findings.add(.factLost, "\(key) has two standing versions")
      }
    }
    for (key, fact) in known.facts {
      guard let answered = fact.answered else { continue }
      let place = "\(key.kind) \(key.identifier)"
      guard let digest = stored[key] else {
        load.findings.add(.factLost, place)
        continue
      }
      // The current record has the versions that were sent meanwhile.
      let versions = fact.versions.merging(
        digest == answered.digest.hexadecimal
          ? [:] : load.record.contents.facts[key]?.versions ?? [:]
      ) { $1 }
      let standing = versions.first { $0.key.hexadecimal == digest }?.value
      guard let standing, standing >= answered else {
        load.findings.add(.factLost, "\(place): an older version is stored")
        continue
      }
    }
    let uuids = Set(
      try await database.rows("SELECT uuid FROM notifications").compactMap { $0.first })
    for uuid in known.notifications where !uuids.contains(Substring(uuid.rawValue)) {
      load.findings.add(.factLost, "notification \(uuid)")
    }
  }

  /// Submits answered calls again: the service must recognise them.
  func checkService(sample count: Int) async throws {
    let lane = ClientLane(load, random: load.random(.random(in: 1_000...9_999)))
    let places = load.record.contents.places
    // The latest calls, which faults endanger most, and random others.
    let sample = Set(places.suffix(count / 2) + places.shuffled().prefix(count / 2))
    for place in sample {
      let step = try load.stock.step(at: place)
      guard
        let answer = await lane.call(
          "repeated submission",
          { (client) async throws(RPCClientError) in
            try await SubmissionAnswer(sending: step.call, for: nil, with: client)
          })
      else { continue }
      if let refusal = answer.refusal {
        load.findings.add(.payloadRefused, "again: \(refusal)")
      } else if !answer.isKnown || (answer.notification != nil && !answer.isKnownNotification) {
        load.findings.add(.factLost, "customer \(place.customer), call \(place.step) was new again")
      }
    }
    await lane.drop()
  }
}
