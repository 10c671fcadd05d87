// deflateInit2 and inflateInit2 are macros, which Swift does not see.
#pragma once

#include <zlib.h>

/// Begins a compression whose output is a gzip file (RFC 1952).
static inline int footlight_gzip_begin(z_stream *stream, int level) {
    return deflateInit2(stream, level, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
}

/// Begins to expand a gzip file.
static inline int footlight_gunzip_begin(z_stream *stream) {
    return inflateInit2(stream, 15 + 16);
}
