// What Swift cannot import from librtmp by itself, and the TLS session librtmp does not set up safely.
//
// librtmp's own rtmps sends no server name and verifies no certificate. Here a gnutls session with both is made on a
// socket that is already connected, and librtmp, which looks only at `sb_ssl` when it reads and writes, is handed it.
#pragma once

#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include <librtmp/amf.h>
#include <librtmp/log.h>
#include <librtmp/rtmp.h>
#include <linux/sockios.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

/// Takes librtmp's log lines and forgets them: they may hold stream keys.
static inline void c_rtmp_drop_log(int level, const char *format, va_list arguments) {
    (void)level;
    (void)format;
    (void)arguments;
}

/// Silences librtmp; function pointers over va_list do not import.
static inline void c_rtmp_quiet(void) {
    RTMP_LogSetLevel(RTMP_LOGCRIT);
    RTMP_LogSetCallback(c_rtmp_drop_log);
}

/// A counter descriptor that wakes a poll; <sys/eventfd.h> is not part of Swift's Glibc.
static inline int c_wake_open(void) { return eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC); }

/// Bytes written to a TCP socket that the peer has not acknowledged; -1 on error. SIOCOUTQ does not import.
static inline int c_socket_unsent(int socket) {
    int bytes = 0;
    return ioctl(socket, SIOCOUTQ, &bytes) < 0 ? -1 : bytes;
}

/// One client side of a TLS connection. `session` passes to librtmp, which ends it; `credentials` stay ours.
typedef struct {
    gnutls_session_t session;
    gnutls_certificate_credentials_t credentials;
} c_tls;

/// Why a TLS session could not be had.
enum { C_TLS_OK = 0, C_TLS_SETUP = 1, C_TLS_TRUST = 2, C_TLS_CERTIFICATE = 3, C_TLS_HANDSHAKE = 4 };

/// Ends whatever of `tls` is still ours.
static inline void c_tls_free(c_tls *tls) {
    if (tls->session) gnutls_deinit(tls->session);
    if (tls->credentials) gnutls_certificate_free_credentials(tls->credentials);
    memset(tls, 0, sizeof *tls);
}

/// Does the handshake on a connected, blocking socket: server name sent, chain and name verified.
///
/// `host` must outlive the session. `ca_file` has authorities besides the system's, or is NULL. `is_name` is 0 for a literal IP
/// address, which must not be sent as a server name. On failure `why` (of `size` bytes) says what happened.
static inline int c_tls_connect(
    c_tls *tls, int socket, const char *host, int is_name, const char *ca_file, char *why, size_t size
) {
    memset(tls, 0, sizeof *tls);
    if (gnutls_certificate_allocate_credentials(&tls->credentials) < 0) {
        snprintf(why, size, "no memory for credentials");
        return C_TLS_SETUP;
    }
    int trusted = gnutls_certificate_set_x509_system_trust(tls->credentials);
    if (ca_file) {
        int more = gnutls_certificate_set_x509_trust_file(tls->credentials, ca_file, GNUTLS_X509_FMT_PEM);
        if (more <= 0) {
            snprintf(why, size, "no trusted certificates in %s", ca_file);
            c_tls_free(tls);
            return C_TLS_TRUST;
        }
        trusted = more;
    }
    if (trusted <= 0) {
        snprintf(why, size, "no trusted certificates found");
        c_tls_free(tls);
        return C_TLS_TRUST;
    }
    // Tickets after the handshake would surface as "try again" in a read, which librtmp takes for an error.
    int status = gnutls_init(&tls->session, GNUTLS_CLIENT | GNUTLS_NO_TICKETS);
    if (status >= 0) status = gnutls_set_default_priority(tls->session);
    if (status >= 0) status = gnutls_credentials_set(tls->session, GNUTLS_CRD_CERTIFICATE, tls->credentials);
    if (status >= 0 && is_name) status = gnutls_server_name_set(tls->session, GNUTLS_NAME_DNS, host, strlen(host));
    if (status < 0) {
        snprintf(why, size, "%s", gnutls_strerror(status));
        c_tls_free(tls);
        return C_TLS_SETUP;
    }
    gnutls_session_set_verify_cert(tls->session, host, 0);
    gnutls_transport_set_int(tls->session, socket);
    // Time is kept by whoever shuts the socket down from outside.
    gnutls_handshake_set_timeout(tls->session, GNUTLS_INDEFINITE_TIMEOUT);
    do {
        status = gnutls_handshake(tls->session);
    } while (status < 0 && !gnutls_error_is_fatal(status));
    if (status >= 0) return C_TLS_OK;

    int result = C_TLS_HANDSHAKE;
    snprintf(why, size, "%s", gnutls_strerror(status));
    if (status == GNUTLS_E_CERTIFICATE_VERIFICATION_ERROR) {
        gnutls_datum_t text = {0};
        unsigned verdict = gnutls_session_get_verify_cert_status(tls->session);
        result = C_TLS_CERTIFICATE;
        if (gnutls_certificate_verification_status_print(verdict, GNUTLS_CRT_X509, &text, 0) >= 0) {
            snprintf(why, size, "%s", (const char *)text.data);
            gnutls_free(text.data);
        }
    }
    c_tls_free(tls);
    return result;
}

/// Bytes that TLS has already decrypted and librtmp has not read yet.
static inline size_t c_tls_pending(void *session) {
    return session ? gnutls_record_check_pending((gnutls_session_t)session) : 0;
}

/// A pull function that never waits, for reading between sends.
static inline ssize_t c_tls_pull(gnutls_transport_ptr_t transport, void *bytes, size_t size) {
    return recv((int)(intptr_t)transport, bytes, size, MSG_DONTWAIT);
}

/// Lets reads of an established session return at once when nothing is there; writes still wait.
static inline void c_tls_never_wait(void *session) {
    gnutls_transport_set_pull_function((gnutls_session_t)session, c_tls_pull);
}

/// Nothing to read now.
enum { C_RECEIVE_LATER = -1, C_RECEIVE_FAILED = -2 };

/// Reads what is there, without waiting: bytes, 0 at the end, or one of the above. `session` may be NULL.
static inline ssize_t c_connection_receive(int socket, void *session, void *bytes, size_t size) {
    if (session) {
        ssize_t count = gnutls_record_recv((gnutls_session_t)session, bytes, size);
        if (count >= 0) return count;
        return gnutls_error_is_fatal((int)count) ? C_RECEIVE_FAILED : C_RECEIVE_LATER;
    }
    ssize_t count = recv(socket, bytes, size, MSG_DONTWAIT);
    if (count >= 0) return count;
    return errno == EAGAIN || errno == EINTR ? C_RECEIVE_LATER : C_RECEIVE_FAILED;
}
