// The inner loops of a scaler by area, for ratios that libyuv has no quick way for.
//
// Every sample is a weighted mean of up to four: weights are 128ths, 0 to 127, and add up to 128. Here because Swift has
// no way to say "put these bytes there" for places that are known only at run time.
#pragma once

#include <libyuv/cpu_id.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#if defined(__x86_64__)
#include <tmmintrin.h>
#endif

// Asks for rows of `width` bytes that will be needed soon; what is past the end of memory does no harm.
static inline void c_prefetch_rows(const uint8_t *start, ptrdiff_t stride, int width, int rows)
{
    for (int row = 0; row < rows; row++) {
        for (int x = 0; x < width; x += 64) __builtin_prefetch(start + row * stride + x, 0, 2);
    }
}

// Copies rows of `width` bytes, asking for what comes a little later on both sides.
//
// libyuv's own loop takes longer to begin a row than to copy it, if the row is as short as a tile's.
static inline void c_copy_rows(
    const uint8_t *source, ptrdiff_t source_stride, uint8_t *target, ptrdiff_t target_stride, int width, int rows)
{
    for (int row = 0; row < rows; row++) {
        for (int x = 0; x < width; x += 64) {
            __builtin_prefetch(source + 8 * source_stride + x, 0, 2);
            __builtin_prefetch(target + 8 * target_stride + x, 1, 2);
        }
        memcpy(target, source, (size_t)width);
        source += source_stride;
        target += target_stride;
    }
}

// The weighted mean of four rows from sample `x` on.
static inline void c_area_rows_plain(const uint8_t *const *rows, const int8_t *weights, uint8_t *target, int x, int width)
{
    for (; x < width; x++) {
        int sum = rows[0][x] * weights[0] + rows[1][x] * weights[1] + rows[2][x] * weights[2] + rows[3][x] * weights[3];
        target[x] = (uint8_t)((sum + 64) >> 7);
    }
}

// Four samples in each group, from source sample `starts[group]` on: 16 places relative to it, 16 weights.
static inline void c_area_columns_plain(
    const uint8_t *source, const int32_t *starts, const uint8_t *places, const int8_t *weights, uint8_t *target, int count)
{
    for (int index = 0; index < count; index++) {
        const uint8_t *from = source + starts[index / 4];
        int sum = 64;
        // A place of 128 or more has no weight.
        for (int tap = 0; tap < 4; tap++) sum += from[places[4 * index + tap] & 15] * weights[4 * index + tap];
        target[index] = (uint8_t)(sum >> 7);
    }
}

#if defined(__x86_64__)
// At least 16 samples; the last ones are done twice rather than one by one.
__attribute__((target("ssse3"))) static inline void c_area_rows_ssse3(
    const uint8_t *const *rows, const int8_t *weights, uint8_t *target, int width)
{
    const __m128i half = _mm_set1_epi16(64);
    const __m128i upper = _mm_set1_epi16((int16_t)(weights[0] | weights[1] << 8));
    const __m128i lower = _mm_set1_epi16((int16_t)(weights[2] | weights[3] << 8));
    const int has_lower = weights[2] != 0 || weights[3] != 0;
    for (int x = 0; x < width; x += 16) {
        if (x > width - 16) x = width - 16;
        __m128i first = _mm_loadu_si128((const __m128i *)(rows[0] + x));
        __m128i second = _mm_loadu_si128((const __m128i *)(rows[1] + x));
        __m128i left = _mm_maddubs_epi16(_mm_unpacklo_epi8(first, second), upper);
        __m128i right = _mm_maddubs_epi16(_mm_unpackhi_epi8(first, second), upper);
        if (has_lower) {
            first = _mm_loadu_si128((const __m128i *)(rows[2] + x));
            second = _mm_loadu_si128((const __m128i *)(rows[3] + x));
            left = _mm_add_epi16(left, _mm_maddubs_epi16(_mm_unpacklo_epi8(first, second), lower));
            right = _mm_add_epi16(right, _mm_maddubs_epi16(_mm_unpackhi_epi8(first, second), lower));
        }
        left = _mm_srli_epi16(_mm_add_epi16(left, half), 7);
        right = _mm_srli_epi16(_mm_add_epi16(right, half), 7);
        _mm_storeu_si128((__m128i *)(target + x), _mm_packus_epi16(left, right));
    }
}

__attribute__((target("ssse3"))) static inline __m128i c_area_group_ssse3(
    const uint8_t *source, const uint8_t *places, const int8_t *weights)
{
    __m128i samples = _mm_loadu_si128((const __m128i *)source);
    samples = _mm_shuffle_epi8(samples, _mm_loadu_si128((const __m128i *)places));
    return _mm_maddubs_epi16(samples, _mm_loadu_si128((const __m128i *)weights));
}

// Two groups at a time; there is an even number of them.
__attribute__((target("ssse3"))) static inline void c_area_columns_ssse3(
    const uint8_t *source, const int32_t *starts, const uint8_t *places, const int8_t *weights, uint8_t *target, int count)
{
    const __m128i half = _mm_set1_epi16(64);
    for (int index = 0; index < count; index += 8) {
        __m128i left = c_area_group_ssse3(source + starts[index / 4], places + 4 * index, weights + 4 * index);
        __m128i right =
            c_area_group_ssse3(source + starts[index / 4 + 1], places + 4 * index + 16, weights + 4 * index + 16);
        __m128i sums = _mm_srli_epi16(_mm_add_epi16(_mm_hadd_epi16(left, right), half), 7);
        sums = _mm_packus_epi16(sums, sums);
        if (count - index >= 8) {
            _mm_storel_epi64((__m128i *)(target + index), sums);
        } else {
            uint8_t rest[16];
            _mm_storeu_si128((__m128i *)rest, sums);
            memcpy(target + index, rest, (size_t)(count - index));
        }
    }
}
#endif

// The weighted mean of four rows of `width` samples, at least 16.
static inline void c_area_rows(
    const uint8_t *const *rows, const int8_t *weights, uint8_t *target, int width, bool is_plain)
{
#if defined(__x86_64__)
    if (!is_plain && TestCpuFlag(kCpuHasSSSE3)) return c_area_rows_ssse3(rows, weights, target, width);
#endif
    c_area_rows_plain(rows, weights, target, 0, width);
}

// `count` samples out of a row; 16 samples may be read from each group's start on, whether they have a weight or not.
static inline void c_area_columns(
    const uint8_t *source, const int32_t *starts, const uint8_t *places, const int8_t *weights, uint8_t *target, int count,
    bool is_plain)
{
#if defined(__x86_64__)
    if (!is_plain && TestCpuFlag(kCpuHasSSSE3)) return c_area_columns_ssse3(source, starts, places, weights, target, count);
#endif
    c_area_columns_plain(source, starts, places, weights, target, count);
}
