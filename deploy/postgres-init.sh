#!/bin/sh
# Run once by the image of PostgreSQL, on an empty volume: a role that row-level security binds, and its database.
set -eu
psql --set=ON_ERROR_STOP=1 --set=password="$BETHINK_DATABASE_PASSWORD" --username postgres <<'SQL'
CREATE ROLE bethink LOGIN NOSUPERUSER NOBYPASSRLS PASSWORD :'password';
CREATE DATABASE bethink OWNER bethink;
\connect bethink
CREATE EXTENSION vector;
SQL
