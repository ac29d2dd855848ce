extension Schema {
  /// Version 6: the time by which the feed is trimmed.
  static let version6 = """
    -- The latest time that was trusted for trimming (`TrimmingClock`); NULL before the first trimming.
    ALTER TABLE feed ADD COLUMN trimming_time INTEGER;
    -- That time when the clock stepped ahead, and how far; NULL while the clock is trusted.
    ALTER TABLE feed ADD COLUMN clock_stepped_at INTEGER;
    ALTER TABLE feed ADD COLUMN clock_step INTEGER;
    """
}
