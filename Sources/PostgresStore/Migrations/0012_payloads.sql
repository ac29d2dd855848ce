-- Compressed payloads: facts.payload, versions.payload, notifications.payload and documents.bytes tell
-- their form by the first byte. Rows that were stored as they are stay readable.

-- The dictionaries that were trained on payloads of this database. Rows that are compressed need them,
-- so they are never changed nor deleted. Number 1 is part of the program.
CREATE TABLE payload_dictionaries (
  number integer PRIMARY KEY CHECK (number >= 2),
  bytes bytea NOT NULL,
  created_at bigint NOT NULL,
  -- How many payloads it was trained on.
  samples bigint NOT NULL,
  digest bytea NOT NULL GENERATED ALWAYS AS (sha256(bytes)) STORED
);

-- A program that knows an older schema would take compressed payloads for damage, and stores raw ones:
-- it cannot commit any more (0002_versions.sql). First, so that what it has written is there below.
ALTER TABLE commit_tokens DROP CONSTRAINT commit_tokens_writer_schema_check;
ALTER TABLE commit_tokens ADD CONSTRAINT commit_tokens_writer_schema_check
  CHECK (writer_schema >= 12) NOT VALID;

-- How far the conversion of stored payloads is. Servers convert in the background.
CREATE TABLE payload_conversions (
  table_name text COLLATE "C" PRIMARY KEY,
  -- The dictionary that payloads are converted to.
  dictionary integer NOT NULL,
  -- The primary key of the last row that was looked at, as texts; NULL before the first.
  position text[],
  -- Rows that were looked at, and their bytes before and after.
  looked_at bigint NOT NULL DEFAULT 0,
  bytes_before bigint NOT NULL DEFAULT 0,
  bytes_after bigint NOT NULL DEFAULT 0,
  -- Rows that could not be read, and were left as they are.
  damaged bigint NOT NULL DEFAULT 0,
  -- Rows of this pass that writers held, and which pass it is: such rows get another one, up to 3.
  skipped bigint NOT NULL DEFAULT 0,
  pass integer NOT NULL DEFAULT 1,
  -- No server converts before.
  next_step_at bigint NOT NULL DEFAULT 0,
  ended_at bigint
);
INSERT INTO payload_conversions (table_name, dictionary, ended_at)
SELECT name, 1,
  CASE WHEN is_empty THEN (extract(epoch FROM clock_timestamp()) * 1000)::bigint END
FROM (VALUES
  ('facts', NOT EXISTS (SELECT FROM facts)),
  ('versions', NOT EXISTS (SELECT FROM versions)),
  ('notifications', NOT EXISTS (SELECT FROM notifications)),
  ('documents', NOT EXISTS (SELECT FROM documents))) AS tables (name, is_empty);
