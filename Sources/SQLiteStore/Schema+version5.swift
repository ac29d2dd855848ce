extension Schema {
  /// Version 5: versions of facts.
  static let version5 = """
    -- The versions of the fact with their signing moments, the standing one first
    -- (`FactHistory.encoded`). NULL for one version that was signed once, as most facts have.
    ALTER TABLE facts ADD COLUMN history BLOB;

    -- The payloads of the versions that do not stand. A version of an item of a document has no
    -- signature: a version must not keep a whole receipt alive.
    CREATE TABLE versions (
      id INTEGER PRIMARY KEY,
      fact_id INTEGER NOT NULL REFERENCES facts (id),
      -- A `StatementDigest`.
      statement BLOB NOT NULL,
      authority INTEGER NOT NULL,
      header_id INTEGER NOT NULL REFERENCES headers (id),
      payload BLOB NOT NULL,
      signature BLOB NOT NULL,
      UNIQUE (fact_id, statement)
    ) STRICT;

    -- 1: a signed transaction of another chain was once of this one. It names the app of the chain.
    ALTER TABLE chains ADD COLUMN is_former_chain INTEGER NOT NULL DEFAULT 0;

    -- The id of the last stored notification whose versions were added; NULL when all were.
    ALTER TABLE feed ADD COLUMN versions_added_through INTEGER;
    UPDATE feed SET versions_added_through = 0 WHERE EXISTS (SELECT 1 FROM notifications);
    """
}
