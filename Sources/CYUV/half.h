// The inner loops of a scaler that halves a picture.
//
// Every sample is made of six, in 128ths: a sinc cut short, which keeps detail that a mean of two would blur and leaves
// out what would come back as a false pattern. The six are the same from either end.
#pragma once

#include <libyuv/cpu_id.h>
#include <stdbool.h>
#include <stdint.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

enum { c_half_near = 56, c_half_mid = 17, c_half_far = -9 };

static inline uint8_t c_half_sample(int far, int mid, int near)
{
    int sum = (far * c_half_far + mid * c_half_mid + near * c_half_near + 64) >> 7;
    return (uint8_t)(sum < 0 ? 0 : sum > 255 ? 255 : sum);
}

static inline void c_half_rows_plain(const uint8_t *const *rows, uint8_t *target, int width)
{
    for (int x = 0; x < width; x++) {
        target[x] = c_half_sample(rows[0][x] + rows[5][x], rows[1][x] + rows[4][x], rows[2][x] + rows[3][x]);
    }
}

static inline void c_half_columns_plain(const uint8_t *source, uint8_t *target, int count)
{
    for (int index = 0; index < count; index++) {
        const uint8_t *from = source + 2 * index;
        target[index] = c_half_sample(from[-2] + from[3], from[-1] + from[2], from[0] + from[1]);
    }
}

#if defined(__x86_64__)
#define C_HALF_PAIR(first, second) _mm256_set1_epi16((int16_t)((uint8_t)(first) | (second) * 256))

// The outer pairs go first: with what they take away the sum runs over only where the result is white anyway.
__attribute__((target("avx2"))) static inline __m256i c_half_sum_avx2(__m256i before, __m256i inner, __m256i after)
{
    before = _mm256_maddubs_epi16(before, C_HALF_PAIR(c_half_far, c_half_mid));
    after = _mm256_maddubs_epi16(after, C_HALF_PAIR(c_half_mid, c_half_far));
    inner = _mm256_maddubs_epi16(inner, C_HALF_PAIR(c_half_near, c_half_near));
    // Times 256, rounded, and the upper half of it: the same as 64 more, and a shift by 7.
    return _mm256_mulhrs_epi16(_mm256_adds_epi16(_mm256_add_epi16(before, after), inner), _mm256_set1_epi16(256));
}

__attribute__((target("avx2"))) static inline __m256i c_half_load_avx2(const uint8_t *from)
{
    return _mm256_loadu_si256((const __m256i *)from);
}

// At least 32 samples; the last ones are done twice rather than one by one.
__attribute__((target("avx2"))) static inline void c_half_rows_avx2(const uint8_t *const *rows, uint8_t *target, int width)
{
    for (int x = 0; x < width; x += 32) {
        if (x > width - 32) x = width - 32;
        __m256i row0 = c_half_load_avx2(rows[0] + x), row1 = c_half_load_avx2(rows[1] + x);
        __m256i row2 = c_half_load_avx2(rows[2] + x), row3 = c_half_load_avx2(rows[3] + x);
        __m256i row4 = c_half_load_avx2(rows[4] + x), row5 = c_half_load_avx2(rows[5] + x);
        __m256i left = c_half_sum_avx2(
            _mm256_unpacklo_epi8(row0, row1), _mm256_unpacklo_epi8(row2, row3), _mm256_unpacklo_epi8(row4, row5));
        __m256i right = c_half_sum_avx2(
            _mm256_unpackhi_epi8(row0, row1), _mm256_unpackhi_epi8(row2, row3), _mm256_unpackhi_epi8(row4, row5));
        _mm256_storeu_si256((__m256i *)(target + x), _mm256_packus_epi16(left, right));
    }
}

// At least 32 samples out; as above.
__attribute__((target("avx2"))) static inline void c_half_columns_avx2(const uint8_t *source, uint8_t *target, int count)
{
    for (int index = 0; index < count; index += 32) {
        if (index > count - 32) index = count - 32;
        const uint8_t *from = source + 2 * index;
        __m256i left =
            c_half_sum_avx2(c_half_load_avx2(from - 2), c_half_load_avx2(from), c_half_load_avx2(from + 2));
        __m256i right =
            c_half_sum_avx2(c_half_load_avx2(from + 30), c_half_load_avx2(from + 32), c_half_load_avx2(from + 34));
        // The instruction packs each half of a register by itself.
        __m256i packed = _mm256_permute4x64_epi64(_mm256_packus_epi16(left, right), 0xD8);
        _mm256_storeu_si256((__m256i *)(target + index), packed);
    }
}
#undef C_HALF_PAIR
#endif

// One row of `width` samples, at least 32, out of six.
static inline void c_half_rows(const uint8_t *const *rows, uint8_t *target, int width, bool is_plain)
{
#if defined(__x86_64__)
    if (!is_plain && TestCpuFlag(kCpuHasAVX2)) return c_half_rows_avx2(rows, target, width);
#endif
    c_half_rows_plain(rows, target, width);
}

// `count` samples, at least 32, out of a row of twice as many with two more on either side of it.
static inline void c_half_columns(const uint8_t *source, uint8_t *target, int count, bool is_plain)
{
#if defined(__x86_64__)
    if (!is_plain && TestCpuFlag(kCpuHasAVX2)) return c_half_columns_avx2(source, target, count);
#endif
    c_half_columns_plain(source, target, count);
}
