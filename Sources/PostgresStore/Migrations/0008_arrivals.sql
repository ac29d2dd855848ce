-- The list of notifications, newest first, whatever partition they are in.
CREATE INDEX notifications_by_arrival ON notifications (received_at, uuid);
