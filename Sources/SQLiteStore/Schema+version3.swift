extension Schema {
  /// Version 3: legacy receipts, archived responses, and unsigned links.
  static let version3 = """
    -- Legacy receipts and archived responses, whole and once: all facts out of one share it. Kept
    -- while a fact refers to it.
    CREATE TABLE documents (
      id INTEGER PRIMARY KEY,
      -- SHA-256: a unique index over the bytes would keep them twice.
      digest BLOB NOT NULL UNIQUE,
      bytes BLOB NOT NULL
    ) STRICT;

    -- NULL for what came as a JWS. The header of a fact out of a document is the empty one, and so
    -- is its signature: letting both be NULL would mean to copy the largest table of all.
    ALTER TABLE facts ADD COLUMN document_id INTEGER REFERENCES documents (id)
      CHECK (document_id IS NULL OR length(signature) = 0);
    CREATE INDEX facts_by_document ON facts (document_id) WHERE document_id IS NOT NULL;

    -- 1: nobody signed what the account was named with, so the link leads nothing else to it.
    ALTER TABLE chains ADD COLUMN is_link_unsigned INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE app_transactions ADD COLUMN is_link_unsigned INTEGER NOT NULL DEFAULT 0;
    """
}
