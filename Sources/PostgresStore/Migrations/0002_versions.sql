-- Versions of facts: what the App Store said before, and each moment at which it was signed.

-- The versions of the fact with their signing moments, the standing one first (FactHistory.encoded).
-- NULL for one version that was signed once, as most facts have.
ALTER TABLE facts ADD COLUMN history bytea;

-- The payloads of the versions that do not stand, next to the facts of their target. A version of an
-- item of a document has no signature: a version must not keep a whole receipt alive.
CREATE TABLE versions (
  scope integer NOT NULL,
  target text COLLATE "C" NOT NULL,
  kind smallint NOT NULL,
  authority smallint NOT NULL,
  header integer NOT NULL,
  identifier text COLLATE "C" NOT NULL,
  -- A StatementDigest.
  statement bytea NOT NULL,
  signature bytea NOT NULL,
  payload bytea NOT NULL,
  PRIMARY KEY (target, scope, kind, identifier, statement)
) PARTITION BY HASH (target);

DO $$
BEGIN
  FOR number IN 0..7 LOOP
    EXECUTE format(
      'CREATE TABLE %I PARTITION OF versions FOR VALUES WITH (MODULUS 8, REMAINDER %s)',
      'versions_' || number, number);
  END LOOP;
END
$$;

-- A signed transaction of another chain was once of this one. It names the app of the chain.
ALTER TABLE links ADD COLUMN is_former_chain boolean NOT NULL DEFAULT false;

-- Up to which notification the versions inside stored notifications were added, by UUID; NULL when
-- all were.
ALTER TABLE meta ADD COLUMN versions_added_through text COLLATE "C";
UPDATE meta SET versions_added_through = '' WHERE EXISTS (SELECT 1 FROM notifications);

-- The schema that the writer knows. A program that knows an older one writes no such column, so that
-- from now on none of its transactions can commit: it would lose versions.
ALTER TABLE commit_tokens ADD COLUMN writer_schema integer NOT NULL DEFAULT 2
  CHECK (writer_schema >= 2);
ALTER TABLE commit_tokens ALTER COLUMN writer_schema DROP DEFAULT;
