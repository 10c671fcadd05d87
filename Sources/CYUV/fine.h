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
#define C_FINE_PAIR(first, second) _mm256_set1_epi16((int16_t)((uint8_t)(first) | (second) * 256))

__attribute__((target("avx2"))) static inline __m256i c_fine_load(const uint8_t *from)
{
    return _mm256_loadu_si256((const __m256i *)from);
}

// Times 256, rounded, and the upper half of it: the same as 64 more, and a shift by 7.
__attribute__((target("avx2"))) static inline __m256i c_fine_round(__m256i sums)
{
    return _mm256_mulhrs_epi16(sums, _mm256_set1_epi16(256));
}

// What takes away goes first: then a sum runs over only where the result is white anyway.
__attribute__((target("avx2"))) static inline __m256i c_half_sum(__m256i before, __m256i inner, __m256i after)
{
    before = _mm256_maddubs_epi16(before, C_FINE_PAIR(c_half_far, c_half_mid));
    after = _mm256_maddubs_epi16(after, C_FINE_PAIR(c_half_mid, c_half_far));
    inner = _mm256_maddubs_epi16(inner, C_FINE_PAIR(c_half_near, c_half_near));
    return c_fine_round(_mm256_adds_epi16(_mm256_add_epi16(before, after), inner));
}

__attribute__((target("avx2"))) static inline __m256i c_third_sum(__m256i s01, __m256i s23, __m256i s45, __m256i s6)
{
    s01 = _mm256_maddubs_epi16(s01, C_FINE_PAIR(c_third_far, c_third_mid));
    s23 = _mm256_maddubs_epi16(s23, C_FINE_PAIR(c_third_near, c_third_own));
    s45 = _mm256_maddubs_epi16(s45, C_FINE_PAIR(c_third_near, c_third_mid));
    s6 = _mm256_maddubs_epi16(s6, C_FINE_PAIR(c_third_far, 0));
    return c_fine_round(_mm256_adds_epi16(_mm256_add_epi16(_mm256_add_epi16(s01, s6), s45), s23));
}

// At least 32 samples; the last ones are done twice rather than one by one.
__attribute__((target("avx2"))) static inline void c_half_rows_avx2(const uint8_t *const *rows, uint8_t *target, int width)
{
    for (int x = 0; x < width; x += 32) {
        if (x > width - 32) x = width - 32;
        __m256i row0 = c_fine_load(rows[0] + x), row1 = c_fine_load(rows[1] + x), row2 = c_fine_load(rows[2] + x);
        __m256i row3 = c_fine_load(rows[3] + x), row4 = c_fine_load(rows[4] + x), row5 = c_fine_load(rows[5] + x);
        __m256i left = c_half_sum(
            _mm256_unpacklo_epi8(row0, row1), _mm256_unpacklo_epi8(row2, row3), _mm256_unpacklo_epi8(row4, row5));
        __m256i right = c_half_sum(
            _mm256_unpackhi_epi8(row0, row1), _mm256_unpackhi_epi8(row2, row3), _mm256_unpackhi_epi8(row4, row5));
        _mm256_storeu_si256((__m256i *)(target + x), _mm256_packus_epi16(left, right));
    }
}

// Several rows below each other, strip by strip: what is loaded for one row is there for the next.
__attribute__((target("avx2"))) static inline void c_half_lot_avx2(
    const uint8_t *source, ptrdiff_t stride, uint8_t *target, ptrdiff_t target_stride, int width, int rows)
{
    for (int x = 0; x < width; x += 32) {
        if (x > width - 32) x = width - 32;
        const uint8_t *from = source + x;
        uint8_t *to = target + x;
        __m256i even = c_fine_load(from), odd = c_fine_load(from + stride);
        __m256i left0 = _mm256_unpacklo_epi8(even, odd), right0 = _mm256_unpackhi_epi8(even, odd);
        even = c_fine_load(from + 2 * stride), odd = c_fine_load(from + 3 * stride);
        __m256i left1 = _mm256_unpacklo_epi8(even, odd), right1 = _mm256_unpackhi_epi8(even, odd);
        for (int row = 0; row < rows; row++) {
            from += 2 * stride;
            even = c_fine_load(from + 2 * stride), odd = c_fine_load(from + 3 * stride);
            __m256i left2 = _mm256_unpacklo_epi8(even, odd), right2 = _mm256_unpackhi_epi8(even, odd);
            __m256i left = c_half_sum(left0, left1, left2), right = c_half_sum(right0, right1, right2);
            _mm256_storeu_si256((__m256i *)to, _mm256_packus_epi16(left, right));
            left0 = left1, left1 = left2, right0 = right1, right1 = right2;
            to += target_stride;
        }
    }
}

// At least 32 samples out; as above.
__attribute__((target("avx2"))) static inline void c_half_columns_avx2(const uint8_t *source, uint8_t *target, int count)
{
    for (int index = 0; index < count; index += 32) {
        if (index > count - 32) index = count - 32;
        const uint8_t *from = source + 2 * index;
        __m256i left = c_half_sum(c_fine_load(from - 2), c_fine_load(from), c_fine_load(from + 2));
        __m256i right = c_half_sum(c_fine_load(from + 30), c_fine_load(from + 32), c_fine_load(from + 34));
        // The instruction packs each half of a register by itself.
        __m256i packed = _mm256_permute4x64_epi64(_mm256_packus_epi16(left, right), 0xD8);
        _mm256_storeu_si256((__m256i *)(target + index), packed);
    }
}

__attribute__((target("avx2"))) static inline void c_third_rows_avx2(const uint8_t *const *rows, uint8_t *target, int width)
{
    const __m256i zero = _mm256_setzero_si256();
    for (int x = 0; x < width; x += 32) {
        if (x > width - 32) x = width - 32;
        __m256i row0 = c_fine_load(rows[0] + x), row1 = c_fine_load(rows[1] + x), row2 = c_fine_load(rows[2] + x);
        __m256i row3 = c_fine_load(rows[3] + x), row4 = c_fine_load(rows[4] + x), row5 = c_fine_load(rows[5] + x);
        __m256i row6 = c_fine_load(rows[6] + x);
        __m256i left = c_third_sum(
            _mm256_unpacklo_epi8(row0, row1), _mm256_unpacklo_epi8(row2, row3), _mm256_unpacklo_epi8(row4, row5),
            _mm256_unpacklo_epi8(row6, zero));
        __m256i right = c_third_sum(
            _mm256_unpackhi_epi8(row0, row1), _mm256_unpackhi_epi8(row2, row3), _mm256_unpackhi_epi8(row4, row5),
            _mm256_unpackhi_epi8(row6, zero));
        _mm256_storeu_si256((__m256i *)(target + x), _mm256_packus_epi16(left, right));
    }
}

// Eight samples: of each, the sums of its first and its last four taps. Two of them lie within 16 bytes.
__attribute__((target("avx2"))) static inline __m256i c_third_eight(const uint8_t *from)
{
    const __m256i places = _mm256_broadcastsi128_si256(
        _mm_setr_epi8(0, 2, 3, 4, 5, 6, 8, -1, 3, 5, 6, 7, 8, 9, 11, -1));
    const int far = c_third_far, mid = c_third_mid, near = c_third_near, own = c_third_own;
    const __m256i weights = _mm256_broadcastsi128_si256(
        _mm_setr_epi8(far, mid, near, own, near, mid, far, 0, far, mid, near, own, near, mid, far, 0));
    __m256i early = _mm256_inserti128_si256(
        _mm256_castsi128_si256(_mm_loadu_si128((const __m128i *)(from - 3))),
        _mm_loadu_si128((const __m128i *)(from + 9)), 1);
    __m256i late = _mm256_inserti128_si256(
        _mm256_castsi128_si256(_mm_loadu_si128((const __m128i *)(from + 3))),
        _mm_loadu_si128((const __m128i *)(from + 15)), 1);
    __m256i first = _mm256_maddubs_epi16(_mm256_shuffle_epi8(early, places), weights);
    __m256i second = _mm256_maddubs_epi16(_mm256_shuffle_epi8(late, places), weights);
    return _mm256_hadd_epi16(first, second);
}

// At least 16 samples out; as above.
__attribute__((target("avx2"))) static inline void c_third_columns_avx2(const uint8_t *source, uint8_t *target, int count)
{
    for (int index = 0; index < count; index += 16) {
        if (index > count - 16) index = count - 16;
        const uint8_t *from = source + 3 * index;
        // The last addition is the one that may run over, and stops at its limit.
        __m256i sums = c_fine_round(_mm256_hadds_epi16(c_third_eight(from), c_third_eight(from + 24)));
        // In the lower halves of both are samples 0 to 3 and 8 to 11.
        __m256i packed = _mm256_permutevar8x32_epi32(
            _mm256_packus_epi16(sums, sums), _mm256_setr_epi32(0, 4, 1, 5, 0, 4, 1, 5));
        _mm_storeu_si128((__m128i *)(target + index), _mm256_castsi256_si128(packed));
    }
}
#undef C_FINE_PAIR
#endif

// One row of `width` samples, at least 32, out of six.
static inline void c_half_rows(const uint8_t *const *rows, uint8_t *target, int width, bool is_plain)
{
#if defined(__x86_64__)
    if (!is_plain && TestCpuFlag(kCpuHasAVX2)) return c_half_rows_avx2(rows, target, width);
#endif
    c_half_rows_plain(rows, target, width);
}

// `rows` of them, the first out of the six rows from `source` on and each further one out of those two below.
static inline void c_half_lot(
    const uint8_t *source, ptrdiff_t stride, uint8_t *target, ptrdiff_t target_stride, int width, int rows, bool is_plain)
{
#if defined(__x86_64__)
    if (!is_plain && TestCpuFlag(kCpuHasAVX2)) {
        return c_half_lot_avx2(source, stride, target, target_stride, width, rows);
    }
#endif
    for (int row = 0; row < rows; row++) {
        const uint8_t *six[6];
        for (int tap = 0; tap < 6; tap++) six[tap] = source + (2 * row + tap) * stride;
        c_half_rows_plain(six, target + row * target_stride, width);
    }
}

// The same out of seven.
static inline void c_third_rows(const uint8_t *const *rows, uint8_t *target, int width, bool is_plain)
{
#if defined(__x86_64__)
    if (!is_plain && TestCpuFlag(kCpuHasAVX2)) return c_third_rows_avx2(rows, target, width);
#endif
    c_third_rows_plain(rows, target, width);
}

// Rows of `count` samples, at least 32, each out of a row of `divisor` times as many, two or three; beside those rows is
// room for three samples more on either side.
static inline void c_fine_columns(
    uint8_t *source, ptrdiff_t stride, uint8_t *target, ptrdiff_t target_stride, int count, int rows, int divisor,
    bool is_plain)
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
    if (!is_plain && TestCpuFlag(kCpuHasAVX2)) columns = divisor == 2 ? c_half_columns_avx2 : c_third_columns_avx2;
#endif
    for (int row = 0; row < rows; row++) columns(source + row * stride, target + row * target_stride, count);
}
