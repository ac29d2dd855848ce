// Who imports this module has the messages that calls take and give back, and the values in them.
@_exported public import EntitlementDomain
@_exported public import Wire
