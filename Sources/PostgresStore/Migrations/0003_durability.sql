-- The history of the database: a random id, and the timeline of PostgreSQL on which it was written. A
-- node that meets another timeline writes a new id before it follows the feed there, so that two
-- servers that were promoted from one base, which PostgreSQL may give the same timeline, have
-- different ids. NULL until a node has started.
ALTER TABLE meta ADD COLUMN history_timeline text COLLATE "C";
ALTER TABLE meta ADD COLUMN history_id uuid;
