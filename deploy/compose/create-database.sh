#!/usr/bin/env bash
# The database image runs this once, when its volume is empty.
set -euo pipefail
# The password comes from the environment, because an argument is visible in the process list.
psql --no-psqlrc --set ON_ERROR_STOP=1 --username "$POSTGRES_USER" --dbname postgres <<'SQL'
\getenv password DATABASE_PASSWORD
CREATE ROLE entitle LOGIN PASSWORD :'password';
CREATE DATABASE entitle OWNER entitle ENCODING 'UTF8' TEMPLATE template0;
REVOKE ALL ON DATABASE entitle FROM PUBLIC;
SQL
