// What Swift cannot import from librtmp by itself, and the TLS session librtmp does not set up safely.
#pragma once

#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include <librtmp/amf.h>
#include <librtmp/log.h>
#include <librtmp/rtmp.h>
