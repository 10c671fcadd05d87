// The inner loops of a scaler that makes pictures exactly half or a third as large.
//
// Every sample is made of six (for a half) or seven (for a third) each way, in 128ths: a sinc cut short, which keeps
// detail that a mean would blur and leaves out what would come back as a false pattern. They are the same from either
// end. Of a third, the samples that are three away have no part in it, as in the sinc; those four away have.
#pragma once

#include <libyuv/cpu_id.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

enum { c_half_near = 56, c_half_mid = 17, c_half_far = -9 };
enum { c_third_own = 42, c_third_near = 35, c_third_mid = 16, c_third_far = -8 };

static inline uint8_t c_fine_sample(int sum)
{
    sum = (sum + 64) >> 7;
    return (uint8_t)(sum < 0 ? 0 : sum > 255 ? 255 : sum);
}

// Out of the six or seven samples that lie `step` bytes apart from `from` on, or in as many rows.
static inline uint8_t c_half_sample(int s0, int s1, int s2, int s3, int s4, int s5)
{
    return c_fine_sample((s0 + s5) * c_half_far + (s1 + s4) * c_half_mid + (s2 + s3) * c_half_near);
}

static inline uint8_t c_third_sample(int s0, int s1, int s2, int s3, int s4, int s5, int s6)
{
    return c_fine_sample(
        (s0 + s6) * c_third_far + (s1 + s5) * c_third_mid + (s2 + s4) * c_third_near + s3 * c_third_own);
}

static inline void c_half_rows_plain(const uint8_t *const *rows, uint8_t *target, int width)
{
    for (int x = 0; x < width; x++) {
        target[x] = c_half_sample(rows[0][x], rows[1][x], rows[2][x], rows[3][x], rows[4][x], rows[5][x]);
    }
}

static inline void c_half_columns_plain(const uint8_t *source, uint8_t *target, int count)
{
    for (int index = 0; index < count; index++) {
        const uint8_t *s = source + 2 * index;
        target[index] = c_half_sample(s[-2], s[-1], s[0], s[1], s[2], s[3]);
    }
}

static inline void c_third_rows_plain(const uint8_t *const *rows, uint8_t *target, int width)
{
    for (int x = 0; x < width; x++) {
        target[x] =
            c_third_sample(rows[0][x], rows[1][x], rows[2][x], rows[3][x], rows[4][x], rows[5][x], rows[6][x]);
    }
}

static inline void c_third_columns_plain(const uint8_t *source, uint8_t *target, int count)
{
    for (int index = 0; index < count; index++) {
        const uint8_t *s = source + 3 * index;
        target[index] = c_third_sample(s[-3], s[-1], s[0], s[1], s[2], s[3], s[5]);
    }
}

#if defined(__x86_64__)
#define C_BYTES 32
#define C_VECTOR __m256i
#define C_ISA "avx2"
#define C_OP(name) _mm256_##name
#define C_NAME(name) name##_256
#define C_JOIN(packed) _mm256_permute4x64_epi64(packed, 0xD8)
#include "fine_loops.h"

#define C_BYTES 64
#define C_VECTOR __m512i
#define C_ISA "avx512f,avx512bw,avx512vbmi"
#define C_OP(name) _mm512_##name
#define C_NAME(name) name##_512
#define C_JOIN(packed) _mm512_permutexvar_epi64(_mm512_setr_epi64(0, 2, 4, 6, 1, 3, 5, 7), packed)
#include "fine_loops.h"
#endif

// How many samples are made at a time: at most `most`, of which the processor must be capable, and not more than `count`;
// 1 without vectors. Processors that had the long ones and not yet `vbmi` became slower by their use.
static inline int c_fine_lanes(int count, int most)
{
#if defined(__x86_64__)
    if (most >= 64 && count >= 64 && TestCpuFlag(kCpuHasAVX512VBMI)) return 64;
    if (most >= 32 && TestCpuFlag(kCpuHasAVX2)) return 32;
#endif
    return 1;
}

// One row of `width` samples, at least 32, out of six.
static inline void c_half_rows(const uint8_t *const *rows, uint8_t *target, int width, int most)
{
    switch (c_fine_lanes(width, most)) {
#if defined(__x86_64__)
    case 64: return c_half_rows_512(rows, target, width);
    case 32: return c_half_rows_256(rows, target, width);
#endif
    default: return c_half_rows_plain(rows, target, width);
    }
}

// `rows` of them, the first out of the six rows from `source` on and each further one out of those two below.
static inline void c_half_lot(
    const uint8_t *source, ptrdiff_t stride, uint8_t *target, ptrdiff_t target_stride, int width, int rows, int most)
{
    switch (c_fine_lanes(width, most)) {
#if defined(__x86_64__)
    case 64: return c_half_lot_512(source, stride, target, target_stride, width, rows);
    case 32: return c_half_lot_256(source, stride, target, target_stride, width, rows);
#endif
    default: break;
    }
    for (int row = 0; row < rows; row++) {
        const uint8_t *six[6];
        for (int tap = 0; tap < 6; tap++) six[tap] = source + (2 * row + tap) * stride;
        c_half_rows_plain(six, target + row * target_stride, width);
    }
}

// The same out of seven.
static inline void c_third_rows(const uint8_t *const *rows, uint8_t *target, int width, int most)
{
    switch (c_fine_lanes(width, most)) {
#if defined(__x86_64__)
    case 64: return c_third_rows_512(rows, target, width);
    case 32: return c_third_rows_256(rows, target, width);
#endif
    default: return c_third_rows_plain(rows, target, width);
    }
}

// Rows of `count` samples, at least 32, each out of a row of `divisor` times as many, two or three; beside those rows is
// room for three samples more on either side, and behind them for 32 that are read and not used.
static inline void c_fine_columns(
    uint8_t *source, ptrdiff_t stride, uint8_t *target, ptrdiff_t target_stride, int count, int rows, int divisor,
    int most)
{
    // At the edges the first and the last sample stand in for those beyond them. For all rows before the first of them is
    // read: a processor waits that is to load as a whole what has just been stored in pieces. That, and one call for
    // several rows, saves a seventh of the scaler's time.
    int width = divisor * count;
    for (int row = 0; row < rows; row++) {
        uint8_t *from = source + row * stride;
        from[-3] = from[-2] = from[-1] = from[0];
        from[width] = from[width + 1] = from[width + 2] = from[width - 1];
    }
    void (*columns)(const uint8_t *, uint8_t *, int) = divisor == 2 ? c_half_columns_plain : c_third_columns_plain;
#if defined(__x86_64__)
    switch (c_fine_lanes(count, most)) {
    case 64: columns = divisor == 2 ? c_half_columns_512 : c_third_columns_512; break;
    case 32: columns = divisor == 2 ? c_half_columns_256 : c_third_columns_256; break;
    default: break;
    }
#endif
    for (int row = 0; row < rows; row++) columns(source + row * stride, target + row * target_stride, count);
}
