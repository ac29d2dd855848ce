extension Schema {
  /// Version 9: the number of chains of each account (R68).
  static let version9 = """
    ALTER TABLE accounts ADD COLUMN chains INTEGER NOT NULL DEFAULT 0;
    UPDATE accounts
    SET chains = (SELECT count(*) FROM chains WHERE chains.account = accounts.id);
    """
}
