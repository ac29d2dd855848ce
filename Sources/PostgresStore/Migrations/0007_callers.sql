-- The author of a change is the authenticated caller. The person or tool for whom it acted is kept
-- beside it; NULL when none was named. Authors of earlier rows are free text of the client.
ALTER TABLE grants ADD COLUMN on_behalf_of text;
ALTER TABLE grants ADD COLUMN withdrawn_on_behalf_of text;
ALTER TABLE tokens ADD COLUMN on_behalf_of text;
ALTER TABLE link_events ADD COLUMN on_behalf_of text;

-- Empty in entries of the first format (R78), which have no proof.
ALTER TABLE audit_entries ADD COLUMN on_behalf_of text NOT NULL DEFAULT '';
ALTER TABLE audit_entries ADD COLUMN proof text NOT NULL DEFAULT '';
ALTER TABLE audit_entries ADD COLUMN token_id text NOT NULL DEFAULT '';

-- A program that knows an older schema would store free text as the author: it cannot commit any
-- more (0002_versions.sql).
ALTER TABLE commit_tokens DROP CONSTRAINT commit_tokens_writer_schema_check;
ALTER TABLE commit_tokens ADD CONSTRAINT commit_tokens_writer_schema_check
  CHECK (writer_schema >= 7) NOT VALID;
