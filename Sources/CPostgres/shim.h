// The client library of PostgreSQL, and what Swift cannot import by itself: its character constants.
#pragma once

#include <libpq-fe.h>
#include <string.h>

/// The error code of a result, five characters (SQLSTATE); null without one.
static inline const char *footlight_postgres_code(const PGresult *result) {
    return PQresultErrorField(result, PG_DIAG_SQLSTATE);
}

/// Whether a notice is a warning, not just a piece of information.
static inline int footlight_postgres_is_warning(const PGresult *result) {
    const char *severity = PQresultErrorField(result, PG_DIAG_SEVERITY_NONLOCALIZED);
    return severity && strcmp(severity, "WARNING") == 0;
}

/// Keeps one bit of a connection's notices: whether one of them was a warning. The argument is an int of the connection.
static inline void footlight_postgres_receive_notice(void *has_warning, const PGresult *result) {
    if (footlight_postgres_is_warning(result)) *(int *)has_warning = 1;
}

/// Has warnings of a connection noted in `has_warning`, instead of written to the standard error.
static inline void footlight_postgres_watch_notices(PGconn *connection, int *has_warning) {
    PQsetNoticeReceiver(connection, footlight_postgres_receive_notice, has_warning);
}
