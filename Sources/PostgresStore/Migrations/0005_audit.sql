-- The audit trail: every call that changes something by decision (R76-R78).

-- The entries, each chain in the order of its positions. They hold no id of a customer: account and
-- former_account are pseudonyms.
CREATE TABLE audit_entries (
  chain text COLLATE "C" NOT NULL,
  position bigint NOT NULL,
  node text COLLATE "C" NOT NULL,
  at bigint NOT NULL,
  peer text COLLATE "C" NOT NULL,
  method text COLLATE "C" NOT NULL,
  bundle_id text COLLATE "C" NOT NULL,
  environment text COLLATE "C" NOT NULL,
  account text COLLATE "C" NOT NULL,
  former_account text COLLATE "C" NOT NULL,
  author text COLLATE "C" NOT NULL,
  reason text COLLATE "C" NOT NULL,
  subject text COLLATE "C" NOT NULL,
  outcome text COLLATE "C" NOT NULL,
  previous text COLLATE "C" NOT NULL,
  hash text COLLATE "C" NOT NULL,
  PRIMARY KEY (chain, position)
);
CREATE INDEX audit_entries_by_time ON audit_entries (at, chain, position);

-- The last entry of each chain. One process writes a chain. sealed_position and removed_position are
-- those of the last seal that names the chain.
CREATE TABLE audit_heads (
  chain text COLLATE "C" PRIMARY KEY,
  position bigint NOT NULL,
  hash text COLLATE "C" NOT NULL,
  sealed_position bigint NOT NULL DEFAULT 0,
  removed_position bigint NOT NULL DEFAULT 0,
  removed_hash text COLLATE "C" NOT NULL DEFAULT ''
);
CREATE INDEX audit_heads_unsealed ON audit_heads (chain) WHERE position <> sealed_position;

CREATE TABLE audit_seals (
  number bigint PRIMARY KEY,
  at bigint NOT NULL,
  node text COLLATE "C" NOT NULL,
  previous text COLLATE "C" NOT NULL,
  hash text COLLATE "C" NOT NULL
);
CREATE TABLE audit_seal_chains (
  number bigint NOT NULL,
  chain text COLLATE "C" NOT NULL,
  position bigint NOT NULL,
  hash text COLLATE "C" NOT NULL,
  removed_position bigint NOT NULL,
  removed_hash text COLLATE "C" NOT NULL,
  PRIMARY KEY (number, chain)
);

-- The process that seals. At most one row.
CREATE TABLE audit_lease (
  is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
  holder text COLLATE "C" NOT NULL,
  expires_at timestamptz NOT NULL
);

-- The only place that tells whose an entry is. A row is erased with its account.
CREATE TABLE audit_accounts (
  scope integer NOT NULL,
  account text COLLATE "C" NOT NULL,
  pseudonym text COLLATE "C" NOT NULL,
  PRIMARY KEY (scope, account)
);

-- Against mistakes: the owner of a table can drop a trigger. Only retention deletes, and it says so.
CREATE FUNCTION audit_is_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' AND current_setting('entitle.audit_removal', true) = 'on' THEN
    RETURN OLD;
  END IF;
  RAISE EXCEPTION 'the audit trail is append-only';
END
$$;
CREATE TRIGGER audit_entries_stay BEFORE UPDATE OR DELETE ON audit_entries
  FOR EACH ROW EXECUTE FUNCTION audit_is_append_only();
CREATE TRIGGER audit_entries_are_kept BEFORE TRUNCATE ON audit_entries
  FOR EACH STATEMENT EXECUTE FUNCTION audit_is_append_only();
CREATE TRIGGER audit_seals_stay BEFORE UPDATE OR DELETE ON audit_seals
  FOR EACH ROW EXECUTE FUNCTION audit_is_append_only();
CREATE TRIGGER audit_seals_are_kept BEFORE TRUNCATE ON audit_seals
  FOR EACH STATEMENT EXECUTE FUNCTION audit_is_append_only();

-- A program that knows an older schema would teach hints that can be planted, and write decisions
-- without an entry of the audit trail: it cannot commit any more (0002_versions.sql).
ALTER TABLE commit_tokens DROP CONSTRAINT commit_tokens_writer_schema_check;
ALTER TABLE commit_tokens ADD CONSTRAINT commit_tokens_writer_schema_check
  CHECK (writer_schema >= 5) NOT VALID;
