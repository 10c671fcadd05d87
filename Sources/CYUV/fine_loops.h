// The loops of fine.h for one width of vectors; it includes this once for each width it has a use for.
//
// C_BYTES is that width, C_VECTOR the type, C_ISA what the processor has to have, C_OP(x) an instruction's name, C_NAME(x)
// a function's, and C_JOIN puts the halves in order of what was packed lane by lane. Every loop makes at least
// `C_BYTES` samples, but where said; the last ones are made twice rather than one by one.
#define C_LOOP __attribute__((target(C_ISA))) static inline
#define C_PAIR(first, second) C_OP(set1_epi16)((int16_t)((uint8_t)(first) | (second) * 256))

C_LOOP C_VECTOR C_NAME(c_fine_load)(const uint8_t *from)
{
    C_VECTOR loaded;
    memcpy(&loaded, from, C_BYTES);
    return loaded;
}

// Times 256, rounded, and the upper half of it: the same as 64 more, and a shift by 7.
C_LOOP C_VECTOR C_NAME(c_fine_round)(C_VECTOR sums)
{
    return C_OP(mulhrs_epi16)(sums, C_OP(set1_epi16)(256));
}

// What takes away goes first: then a sum runs over only where the result is white anyway.
C_LOOP C_VECTOR C_NAME(c_half_sum)(C_VECTOR before, C_VECTOR inner, C_VECTOR after)
{
    before = C_OP(maddubs_epi16)(before, C_PAIR(c_half_far, c_half_mid));
    after = C_OP(maddubs_epi16)(after, C_PAIR(c_half_mid, c_half_far));
    inner = C_OP(maddubs_epi16)(inner, C_PAIR(c_half_near, c_half_near));
    return C_NAME(c_fine_round)(C_OP(adds_epi16)(C_OP(add_epi16)(before, after), inner));
}

C_LOOP C_VECTOR C_NAME(c_third_sum)(C_VECTOR s01, C_VECTOR s23, C_VECTOR s45, C_VECTOR s6)
{
    s01 = C_OP(maddubs_epi16)(s01, C_PAIR(c_third_far, c_third_mid));
    s23 = C_OP(maddubs_epi16)(s23, C_PAIR(c_third_near, c_third_own));
    s45 = C_OP(maddubs_epi16)(s45, C_PAIR(c_third_near, c_third_mid));
    s6 = C_OP(maddubs_epi16)(s6, C_PAIR(c_third_far, 0));
    return C_NAME(c_fine_round)(C_OP(adds_epi16)(C_OP(add_epi16)(C_OP(add_epi16)(s01, s6), s45), s23));
}

C_LOOP void C_NAME(c_half_rows)(const uint8_t *const *rows, uint8_t *target, int width)
{
    for (int x = 0; x < width; x += C_BYTES) {
        if (x > width - C_BYTES) x = width - C_BYTES;
        // Not as an array: it would lie in memory.
        C_VECTOR s0 = C_NAME(c_fine_load)(rows[0] + x), s1 = C_NAME(c_fine_load)(rows[1] + x);
        C_VECTOR s2 = C_NAME(c_fine_load)(rows[2] + x), s3 = C_NAME(c_fine_load)(rows[3] + x);
        C_VECTOR s4 = C_NAME(c_fine_load)(rows[4] + x), s5 = C_NAME(c_fine_load)(rows[5] + x);
        C_VECTOR left = C_NAME(c_half_sum)(
            C_OP(unpacklo_epi8)(s0, s1), C_OP(unpacklo_epi8)(s2, s3), C_OP(unpacklo_epi8)(s4, s5));
        C_VECTOR right = C_NAME(c_half_sum)(
            C_OP(unpackhi_epi8)(s0, s1), C_OP(unpackhi_epi8)(s2, s3), C_OP(unpackhi_epi8)(s4, s5));
        C_VECTOR made = C_OP(packus_epi16)(left, right);
        memcpy(target + x, &made, C_BYTES);
    }
}

// Several rows below each other, strip by strip: what is loaded for one row is there for the next.
C_LOOP void C_NAME(c_half_lot)(
    const uint8_t *source, ptrdiff_t stride, uint8_t *target, ptrdiff_t target_stride, int width, int rows)
{
    for (int x = 0; x < width; x += C_BYTES) {
        if (x > width - C_BYTES) x = width - C_BYTES;
        const uint8_t *from = source + x;
        uint8_t *to = target + x;
        C_VECTOR even = C_NAME(c_fine_load)(from), odd = C_NAME(c_fine_load)(from + stride);
        C_VECTOR left0 = C_OP(unpacklo_epi8)(even, odd), right0 = C_OP(unpackhi_epi8)(even, odd);
        even = C_NAME(c_fine_load)(from + 2 * stride), odd = C_NAME(c_fine_load)(from + 3 * stride);
        C_VECTOR left1 = C_OP(unpacklo_epi8)(even, odd), right1 = C_OP(unpackhi_epi8)(even, odd);
        for (int row = 0; row < rows; row++) {
            from += 2 * stride;
            even = C_NAME(c_fine_load)(from + 2 * stride), odd = C_NAME(c_fine_load)(from + 3 * stride);
            C_VECTOR left2 = C_OP(unpacklo_epi8)(even, odd), right2 = C_OP(unpackhi_epi8)(even, odd);
            C_VECTOR left = C_NAME(c_half_sum)(left0, left1, left2);
            C_VECTOR right = C_NAME(c_half_sum)(right0, right1, right2);
            C_VECTOR made = C_OP(packus_epi16)(left, right);
            memcpy(to, &made, C_BYTES);
            left0 = left1, left1 = left2, right0 = right1, right1 = right2;
            to += target_stride;
        }
    }
}

C_LOOP void C_NAME(c_half_columns)(const uint8_t *source, uint8_t *target, int count)
{
    for (int index = 0; index < count; index += C_BYTES) {
        if (index > count - C_BYTES) index = count - C_BYTES;
        const uint8_t *from = source + 2 * index, *further = from + C_BYTES;
        C_VECTOR left = C_NAME(c_half_sum)(
            C_NAME(c_fine_load)(from - 2), C_NAME(c_fine_load)(from), C_NAME(c_fine_load)(from + 2));
        C_VECTOR right = C_NAME(c_half_sum)(
            C_NAME(c_fine_load)(further - 2), C_NAME(c_fine_load)(further), C_NAME(c_fine_load)(further + 2));
        C_VECTOR made = C_JOIN(C_OP(packus_epi16)(left, right));
        memcpy(target + index, &made, C_BYTES);
    }
}

C_LOOP void C_NAME(c_third_rows)(const uint8_t *const *rows, uint8_t *target, int width)
{
    const C_VECTOR zero = C_OP(set1_epi16)(0);
    for (int x = 0; x < width; x += C_BYTES) {
        if (x > width - C_BYTES) x = width - C_BYTES;
        C_VECTOR s0 = C_NAME(c_fine_load)(rows[0] + x), s1 = C_NAME(c_fine_load)(rows[1] + x);
        C_VECTOR s2 = C_NAME(c_fine_load)(rows[2] + x), s3 = C_NAME(c_fine_load)(rows[3] + x);
        C_VECTOR s4 = C_NAME(c_fine_load)(rows[4] + x), s5 = C_NAME(c_fine_load)(rows[5] + x);
        C_VECTOR s6 = C_NAME(c_fine_load)(rows[6] + x);
        C_VECTOR left = C_NAME(c_third_sum)(
            C_OP(unpacklo_epi8)(s0, s1), C_OP(unpacklo_epi8)(s2, s3), C_OP(unpacklo_epi8)(s4, s5),
            C_OP(unpacklo_epi8)(s6, zero));
        C_VECTOR right = C_NAME(c_third_sum)(
            C_OP(unpackhi_epi8)(s0, s1), C_OP(unpackhi_epi8)(s2, s3), C_OP(unpackhi_epi8)(s4, s5),
            C_OP(unpackhi_epi8)(s6, zero));
        C_VECTOR made = C_OP(packus_epi16)(left, right);
        memcpy(target + x, &made, C_BYTES);
    }
}

#if C_BYTES == 32
// Eight samples: of each, the sums of its first and its last four taps. Two of them lie within 16 bytes.
C_LOOP C_VECTOR C_NAME(c_third_eight)(const uint8_t *from)
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

// At least 16 samples.
C_LOOP void C_NAME(c_third_columns)(const uint8_t *source, uint8_t *target, int count)
{
    for (int index = 0; index < count; index += 16) {
        if (index > count - 16) index = count - 16;
        const uint8_t *from = source + 3 * index;
        // The last addition is the one that may run over, and stops at its limit.
        __m256i sums = C_NAME(c_fine_round)(
            _mm256_hadds_epi16(C_NAME(c_third_eight)(from), C_NAME(c_third_eight)(from + 24)));
        // In the lower halves of both are samples 0 to 3 and 8 to 11.
        __m256i packed = _mm256_permutevar8x32_epi32(
            _mm256_packus_epi16(sums, sums), _mm256_setr_epi32(0, 4, 1, 5, 0, 4, 1, 5));
        _mm_storeu_si128((__m128i *)(target + index), _mm256_castsi256_si128(packed));
    }
}
#else
// Two taps of each of 32 samples, each three bytes after the last one.
C_LOOP __m512i c_third_pairs(__m512i low, __m512i high, __m512i threes, int first, int second)
{
    return _mm512_permutex2var_epi8(low, _mm512_add_epi8(threes, C_PAIR(first, second)), high);
}

// At least 32 samples.
C_LOOP void C_NAME(c_third_columns)(const uint8_t *source, uint8_t *target, int count)
{
    __m512i threes = _mm512_cvtepu8_epi16(_mm256_setr_epi8(
        0, 3, 6, 9, 12, 15, 18, 21, 24, 27, 30, 33, 36, 39, 42, 45, 48, 51, 54, 57, 60, 63, 66, 69, 72, 75, 78, 81, 84, 87,
        90, 93));
    threes = _mm512_or_si512(threes, _mm512_slli_epi16(threes, 8));
    for (int index = 0; index < count; index += 32) {
        if (index > count - 32) index = count - 32;
        const uint8_t *from = source + 3 * index - 3;
        __m512i low = C_NAME(c_fine_load)(from), high = C_NAME(c_fine_load)(from + 64);
        __m512i sums = C_NAME(c_third_sum)(
            c_third_pairs(low, high, threes, 0, 2), c_third_pairs(low, high, threes, 3, 4),
            c_third_pairs(low, high, threes, 5, 6), c_third_pairs(low, high, threes, 8, 8));
        __m256i made = _mm512_cvtusepi16_epi8(_mm512_max_epi16(sums, _mm512_setzero_si512()));
        memcpy(target + index, &made, sizeof made);
    }
}
#endif

#undef C_PAIR
#undef C_LOOP
#undef C_JOIN
#undef C_NAME
#undef C_OP
#undef C_ISA
#undef C_VECTOR
#undef C_BYTES
