-- What the backend says of the consumption of a purchase, which need not be known, and the App Store's
-- request for it (R86). Not partitioned: refunds are asked for of few purchases.
CREATE TABLE consumption_requests (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  scope integer NOT NULL,
  transaction_id text COLLATE "C" NOT NULL,
  -- In thousandths of a percent.
  percentage bigint,
  -- Apple's word.
  delivery_status text COLLATE "C",
  -- A ConsumptionRequest.State: 1 is open. NULL, as all that follows, while there is no request.
  state smallint,
  -- A ConsumptionCause.
  cause smallint,
  notification_uuid text COLLATE "C",
  reason text COLLATE "C",
  requested_at bigint,
  detail text COLLATE "C",
  attempts bigint,
  -- The lease of an attempt that has begun a call.
  sending text COLLATE "C",
  opened_at bigint,
  changed_at bigint,
  UNIQUE (scope, transaction_id)
);
CREATE INDEX consumption_requests_by_state ON consumption_requests (state, id) WHERE state IS NOT NULL;
-- Those that are requests, for lists.
CREATE INDEX consumption_requests_asked ON consumption_requests (id) WHERE state IS NOT NULL;
CREATE INDEX consumption_requests_open ON consumption_requests (scope, requested_at) WHERE state = 1;
-- Consumption (3) is done before other jobs.
CREATE INDEX app_store_jobs_due_consumption ON app_store_jobs (scope, due_at, id)
  WHERE state = 1 AND kind = 3;

-- Consent of accounts. Not partitioned: only accounts that were asked have one.
CREATE TABLE consumption_consents (
  scope integer NOT NULL,
  account text COLLATE "C" NOT NULL,
  is_given boolean NOT NULL,
  at bigint NOT NULL,
  author text COLLATE "C" NOT NULL,
  on_behalf_of text COLLATE "C",
  note text COLLATE "C" NOT NULL,
  PRIMARY KEY (scope, account)
);

-- A program that knows an older schema would store notifications without the requests that they bring,
-- and delete accounts without their consent: it cannot commit any more (0002_versions.sql).
ALTER TABLE commit_tokens DROP CONSTRAINT commit_tokens_writer_schema_check;
ALTER TABLE commit_tokens ADD CONSTRAINT commit_tokens_writer_schema_check
  CHECK (writer_schema >= 10) NOT VALID;
