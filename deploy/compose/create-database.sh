#!/usr/bin/env bash
# Run once by the database's image, when its volume is empty.
set -euo pipefail
psql --no-psqlrc --set ON_ERROR_STOP=1 --set password="$DATABASE_PASSWORD" \
  --username "$POSTGRES_USER" --dbname postgres <<'SQL'
CREATE ROLE entitle LOGIN PASSWORD :'password';
CREATE DATABASE entitle OWNER entitle ENCODING 'UTF8' TEMPLATE template0;
REVOKE ALL ON DATABASE entitle FROM PUBLIC;
SQL
