extension Schema {
  /// Version 10: the author of a change is the authenticated caller, and the person or tool for whom
  /// it acted is kept beside it. In entries of the first format (R78) the three texts are empty.
  static let version10 = """
    ALTER TABLE grants ADD COLUMN on_behalf_of TEXT;
    ALTER TABLE grants ADD COLUMN withdrawn_on_behalf_of TEXT;
    ALTER TABLE account_tokens ADD COLUMN on_behalf_of TEXT;
    ALTER TABLE link_history ADD COLUMN on_behalf_of TEXT;
    ALTER TABLE audit_entries ADD COLUMN on_behalf_of TEXT NOT NULL DEFAULT '';
    ALTER TABLE audit_entries ADD COLUMN proof TEXT NOT NULL DEFAULT '';
    ALTER TABLE audit_entries ADD COLUMN token_id TEXT NOT NULL DEFAULT '';
    """
}
