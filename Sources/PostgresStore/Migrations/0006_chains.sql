-- How many chains each account has (R68).
ALTER TABLE accounts ADD COLUMN chains bigint NOT NULL DEFAULT 0;
UPDATE accounts SET chains = held.chains
FROM (
  SELECT scope, account, count(*) AS chains FROM links
  WHERE account IS NOT NULL AND left(target, 1) = 'c'
  GROUP BY scope, account) AS held
WHERE held.scope = accounts.scope AND held.account = accounts.account;

-- A program that knows an older schema would not count: it cannot commit any more
-- (0002_versions.sql).
ALTER TABLE commit_tokens DROP CONSTRAINT commit_tokens_writer_schema_check;
ALTER TABLE commit_tokens ADD CONSTRAINT commit_tokens_writer_schema_check
  CHECK (writer_schema >= 6) NOT VALID;
