-- The list of notifications, newest first, whatever partition they are in.
CREATE INDEX notifications_by_arrival ON notifications (received_at, uuid);
-- A part that was built before, and whose build was interrupted, is attached without an error.
DO $$
BEGIN
  IF EXISTS (
    SELECT FROM pg_index
    WHERE indexrelid = 'notifications_by_arrival'::regclass AND NOT indisvalid)
  THEN
    RAISE EXCEPTION 'an index of a part of notifications is not valid: drop it, and migrate again';
  END IF;
END $$;
