-- What links and tokens rest on.

-- A LinkStanding. What two accounts claimed before is contested (2).
ALTER TABLE links ADD COLUMN standing smallint NOT NULL DEFAULT 0;
UPDATE links SET standing = 2
FROM (SELECT DISTINCT scope, target FROM link_events WHERE reason = 'claimed') AS claimed
WHERE links.scope = claimed.scope AND links.target = claimed.target
  AND links.account IS NOT NULL AND links.target LIKE 'c%';
-- An app transaction that a chain of another account carries.
UPDATE links SET standing = 2
WHERE links.target LIKE 't%' AND links.account IS NOT NULL AND EXISTS (
  SELECT 1 FROM hints JOIN links AS carrier
    ON carrier.scope = hints.scope AND carrier.target = hints.target
  WHERE hints.scope = links.scope AND hints.hint = links.target
    AND carrier.account <> links.account);

-- NULL: an ambiguous token whose first account was deleted.
ALTER TABLE tokens ALTER COLUMN account DROP NOT NULL;
-- An AccountTokenState. Tokens known before were learned (1); one that a chain of another account
-- carries is ambiguous (2).
ALTER TABLE tokens ADD COLUMN state smallint NOT NULL DEFAULT 1;
-- Who bound it and why; NULL for other tokens.
ALTER TABLE tokens ADD COLUMN author text COLLATE "C";
ALTER TABLE tokens ADD COLUMN note text COLLATE "C";
-- NULL for tokens of earlier versions.
ALTER TABLE tokens ADD COLUMN since bigint;
ALTER TABLE tokens ADD CHECK (account IS NOT NULL OR state = 2);
UPDATE tokens SET state = 2
WHERE EXISTS (
  SELECT 1 FROM hints JOIN links
    ON links.scope = hints.scope AND links.target = hints.target
  WHERE hints.scope = tokens.scope AND hints.hint = 'a' || tokens.token
    AND links.account <> tokens.account);
CREATE INDEX tokens_ambiguous ON tokens (scope, token) WHERE state = 2;
