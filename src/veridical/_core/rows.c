/* Loops over rows in memory, in plain C; NumPy does the same where it is absent.
   No Python in it: it is called through ctypes, which lets other threads run meanwhile. */

#include <math.h>
#include <stdint.h>
#include <string.h>

#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && defined(__linux__)
#define FASTEST __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define FASTEST
#endif

#if defined(_WIN32)
#define EXPORTED __declspec(dllexport)
#else
#define EXPORTED __attribute__((visibility("default")))
#endif

#define MOST_BITS 11
#define FEW 40

/* Numbers in increasing order: by their leading bits that differ, and so on within those that share
   them; few by insertion. Time O(n) for numbers that are spread, O(6 n) at worst. */
EXPORTED void sort_numbers(uint64_t *a, uint64_t *spare, int64_t n)
{
    if (n <= FEW) {
        for (int64_t i = 1; i < n; i++) {
            uint64_t own = a[i];
            int64_t j = i;
            for (; j > 0 && a[j - 1] > own; j--)
                a[j] = a[j - 1];
            a[j] = own;
        }
        return;
    }
    uint64_t any = 0, all = ~(uint64_t)0;
    int sorted = 1;
    for (int64_t i = 0; i < n; i++)
        any |= a[i], all &= a[i];
    for (int64_t i = 1; i < n && sorted; i++)
        sorted = a[i - 1] <= a[i];
    uint64_t differ = any ^ all;
    if (sorted)
        return;
    int top = 0, bits = 4;
    while (top < 64 && differ >> top)
        top++;
    while (bits < MOST_BITS && ((int64_t)8 << bits) < n)
        bits++;
    int shift = top > bits ? top - bits : 0;
    uint64_t mask = ((uint64_t)1 << bits) - 1;
    int64_t place[(1 << MOST_BITS) + 1] = {0}, size = (int64_t)1 << bits;
    for (int64_t i = 0; i < n; i++)
        place[((a[i] >> shift) & mask) + 1]++;
    for (int64_t k = 0; k < size; k++)
        place[k + 1] += place[k];
    for (int64_t i = 0; i < n; i++)
        spare[place[(a[i] >> shift) & mask]++] = a[i];
    memcpy(a, spare, n * sizeof *a);
    if (shift)
        for (int64_t k = 0, start = 0; k < size; start = place[k++])
            if (place[k] - start > 1)
                sort_numbers(a + start, spare + start, place[k] - start);
}

/* The bin of a value among increasing edges that are nearly `scale` a unit from `low` on. */
#define BIN(value)                                                                                 \
    int64_t k = (int64_t)((double)((value) - low) * scale + 0.5);                                  \
    k = k < 0 ? 0 : k > bins ? bins : k;                                                           \
    k -= left ? (value) < edges[k] : (value) <= edges[k];                                          \
    k = k < 0 ? 0 : k > bins - 1 ? bins - 1 : k

/* Add counts, sums of p and of p^2 by bin and outcome to `cells` of shape (3, 2 bins). */
#define SUM_BY_BIN(NAME, TYPE)                                                                     \
    EXPORTED void NAME(int64_t n, const TYPE *restrict p, const int64_t *restrict y, int64_t bins, \
                       const TYPE *restrict edges, double lowest, double scale, int64_t left,      \
                       double *restrict cells)                                                     \
    {                                                                                              \
        TYPE low = (TYPE)lowest;                                                                   \
        for (int64_t i = 0; i < n; i++) {                                                          \
            BIN(p[i]);                                                                             \
            double *to = cells + 2 * k + y[i], wide = p[i];                                        \
            to[0] += 1.0;                                                                          \
            to[2 * bins] += wide;                                                                  \
            to[4 * bins] += wide * wide;                                                           \
        }                                                                                          \
    }

SUM_BY_BIN(sum_by_bin_64, double)
SUM_BY_BIN(sum_by_bin_32, float)

/* The same by column and bin, of rows of several columns: `cells` is of shape (3, columns, bins). */
#define SUM_BY_CLASS(NAME, TYPE)                                                                   \
    EXPORTED void NAME(int64_t n, int64_t columns, const TYPE *restrict p, int64_t bins,           \
                       const TYPE *restrict edges, double lowest, double scale, int64_t left,      \
                       double *restrict cells)                                                     \
    {                                                                                              \
        TYPE low = (TYPE)lowest;                                                                   \
        int64_t stride = columns * bins;                                                           \
        for (int64_t i = 0; i < n; i++)                                                            \
            for (int64_t c = 0; c < columns; c++) {                                                \
                TYPE value = p[i * columns + c];                                                   \
                BIN(value);                                                                        \
                double *to = cells + c * bins + k, wide = value;                                   \
                to[0] += 1.0;                                                                      \
                to[stride] += wide;                                                                \
                to[2 * stride] += wide * wide;                                                     \
            }                                                                                      \
    }

SUM_BY_CLASS(sum_by_class_64, double)
SUM_BY_CLASS(sum_by_class_32, float)

/* Of rows of k probabilities: the largest, and whether the class that occurred is the first of the
   largest. Returns 0 if a row is no probability vector. Sums of so many lanes meet at the end. */
#define SCAN_ROWS(NAME, TYPE, LANES)                                                               \
    FASTEST EXPORTED int64_t NAME(int64_t n, int64_t k, const TYPE *restrict p, const int64_t *y,  \
                                  double tolerance, TYPE *restrict top, uint8_t *restrict hit)     \
    {                                                                                              \
        int64_t whole = k - k % LANES;                                                             \
        for (int64_t i = 0; i < n; i++) {                                                          \
            const TYPE *own = p + i * k;                                                           \
            TYPE most[LANES], least[LANES], sum[LANES], best = own[0], low = own[0], total = 0;    \
            for (int j = 0; j < LANES; j++)                                                        \
                most[j] = least[j] = own[0], sum[j] = 0;                                           \
            for (int64_t c = 0; c < whole; c += LANES)                                             \
                for (int j = 0; j < LANES; j++) {                                                  \
                    TYPE v = own[c + j];                                                           \
                    sum[j] += v;                                                                   \
                    most[j] = v > most[j] ? v : most[j];                                           \
                    least[j] = v < least[j] ? v : least[j];                                        \
                }                                                                                  \
            for (int j = 0; j < LANES; j++) {                                                      \
                total += sum[j];                                                                   \
                best = most[j] > best ? most[j] : best;                                            \
                low = least[j] < low ? least[j] : low;                                             \
            }                                                                                      \
            for (int64_t c = whole; c < k; c++) {                                                  \
                total += own[c];                                                                   \
                best = own[c] > best ? own[c] : best;                                              \
                low = own[c] < low ? own[c] : low;                                                 \
            }                                                                                      \
            /* a value that is not a number makes the total one, and the comparison false */       \
            if (!(low >= 0 && best <= 1 && fabs((double)total - 1.0) <= tolerance))                \
                return 0;                                                                          \
            int64_t first = own[y[i]] == best ? 0 : y[i];                                          \
            while (first < y[i] && own[first] != best)                                             \
                first++;                                                                           \
            top[i] = best;                                                                         \
            hit[i] = own[y[i]] == best && first == y[i];                                           \
        }                                                                                          \
        return 1;                                                                                  \
    }

SCAN_ROWS(scan_rows_64, double, 32)
SCAN_ROWS(scan_rows_32, float, 32)
SCAN_ROWS(scan_few_64, double, 8)
SCAN_ROWS(scan_few_32, float, 8)

/* Chances of 0, 1, ..., n successes in n trials, multiplied out one by one. */
EXPORTED void poisson_binomial(int64_t n, const double *restrict p, double *restrict out)
{
    out[0] = 1.0;
    for (int64_t k = 0; k < n; k++) {
        double q = p[k], rest = 1.0 - q;
        out[k + 1] = out[k] * q;
        for (int64_t j = k; j > 0; j--)
            out[j] = out[j] * rest + out[j - 1] * q;
        out[0] *= rest;
    }
}

/* The saddlepoint of the sum of gamma variables of this shape times x = scale (value - mean): the t
   where the sum of shape log(1 - t x / unit) is largest, by Newton's method; unit is the largest
   size of x. Fills in t, unit, that sum with its sign changed and the sums of shape r^2 and shape
   r^3, r being x / (unit - t x). Returns 1 if no x is positive, -1 if none is negative. */
FASTEST EXPORTED int64_t saddlepoint(int64_t n, const double *restrict value,
                                     const double *restrict shape, const double *restrict scale,
                                     double mean, double near, double edge, int64_t steps,
                                     double *restrict out)
{
    double low = INFINITY, high = -INFINITY, lows[16], highs[16];
    int64_t whole = n - n % 16;
    for (int j = 0; j < 16; j++)
        lows[j] = INFINITY, highs[j] = -INFINITY;
    for (int64_t i = 0; i < whole; i += 16)
        for (int j = 0; j < 16; j++) {
            double x = scale[i + j] * (value[i + j] - mean);
            lows[j] = x < lows[j] ? x : lows[j];
            highs[j] = x > highs[j] ? x : highs[j];
        }
    for (int64_t i = whole; i < n; i++) {
        double x = scale[i] * (value[i] - mean);
        low = x < low ? x : low;
        high = x > high ? x : high;
    }
    for (int j = 0; j < 16; j++) {
        low = lows[j] < low ? lows[j] : low;
        high = highs[j] > high ? highs[j] : high;
    }
    if (high <= 0.0 || low >= 0.0)
        return high <= 0.0 ? 1 : -1;
    double unit = high > -low ? high : -low, first = unit / low, last = unit / high;
    double at = first < near * unit && near * unit < last ? near * unit : 0.0;
    for (int64_t step = 0; step < steps; step++) {
        double one[16] = {0}, two[16] = {0}, slope = 0.0, curvature = 0.0;
        for (int64_t i = 0; i < whole; i += 16)
            for (int j = 0; j < 16; j++) {
                double x = scale[i + j] * (value[i + j] - mean) / unit;
                double ratio = x / (1.0 - at * x), weighted = shape[i + j] * ratio;
                one[j] += weighted, two[j] += weighted * ratio;
            }
        for (int64_t i = whole; i < n; i++) {
            double x = scale[i] * (value[i] - mean) / unit, ratio = x / (1.0 - at * x);
            slope += shape[i] * ratio, curvature += shape[i] * ratio * ratio;
        }
        for (int j = 0; j < 16; j++)
            slope += one[j], curvature += two[j];
        if (slope > 0.0)
            last = at;
        else
            first = at;
        double next = at - slope / curvature;
        if (!(first < next && next < last))
            next = (first + last) / 2.0;
        double moved = fabs(next - at), size = 1.0 + fabs(at);
        at = next;
        if (moved <= edge * size)
            break;
    }
    double fall = 0.0, square = 0.0, cube = 0.0, two[16] = {0}, three[16] = {0};
    for (int64_t i = 0; i < whole; i += 16) {
        double factor[16];
        int alone = 1;
        for (int j = 0; j < 16; j++) {
            double x = scale[i + j] * (value[i + j] - mean) / unit, rest = 1.0 - at * x;
            double ratio = x / rest, weighted = shape[i + j] * ratio * ratio;
            two[j] += weighted, three[j] += weighted * ratio;
            factor[j] = rest, alone &= shape[i + j] == 1.0;
        }
        if (alone) /* two logarithms of products instead of 16 */
            for (int j = 0; j < 16; j += 8)
                fall += log(((factor[j] * factor[j + 1]) * (factor[j + 2] * factor[j + 3])) *
                            ((factor[j + 4] * factor[j + 5]) * (factor[j + 6] * factor[j + 7])));
        else
            for (int j = 0; j < 16; j++)
                fall += shape[i + j] * log(factor[j]);
    }
    for (int j = 0; j < 16; j++)
        square += two[j], cube += three[j];
    for (int64_t i = whole; i < n; i++) {
        double x = scale[i] * (value[i] - mean) / unit, ratio = x / (1.0 - at * x);
        fall += shape[i] * log1p(-at * x);
        square += shape[i] * ratio * ratio, cube += shape[i] * ratio * ratio * ratio;
    }
    out[0] = at, out[1] = unit, out[2] = fall, out[3] = square, out[4] = cube;
    return 0;
}

#define LANES 8
#define MOST_SCALES 64

typedef struct {
    int64_t scale;
    double size, expected, square, count[LANES], linear[LANES];
} Cell;

/* A cell that stays what it is from its scale up to `end`: (S^2 - sum of e^2) / size for each. */
static inline void pairs_of_cell(const Cell *restrict cell, double (*restrict out)[LANES], int64_t end)
{
    double share = 1.0 / cell->size;
    for (int k = 0; k < LANES; k++) {
        double sum = cell->count[k] - cell->expected;
        double found = (sum * sum - cell->linear[k] - cell->square) * share;
        out[cell->scale][k] += found;
        out[end][k] -= found;
    }
}

/* Rows in increasing order of p, whose outcomes are events, or none of them where p > 1/2, (n, draws).
   A row shares the cell of the one before from scale joins[i] on, `scales` if at none. Fills in the
   sums over cells of several rows of (S^2 - sum of e^2) / size at every scale, (scales, draws), e
   being outcome less p and S its sum: cells are closed one after the other, and added to the next
   larger one, so that rows are passed once for eight draws. */
FASTEST EXPORTED void sum_pairs(int64_t n, const double *restrict p, const uint8_t *restrict joins,
                                int64_t scales, int64_t draws, const uint8_t *restrict events,
                                double *restrict out)
{
    for (int64_t first = 0; first < draws; first += LANES) {
        int64_t lanes = draws - first < LANES ? draws - first : LANES, depth = 0;
        double sums[MOST_SCALES + 1][LANES] = {{0}};
        Cell open[MOST_SCALES + 1];
        for (int64_t i = 0; i < n; i++) {
            int64_t left = joins[i], right = i + 1 < n ? joins[i + 1] : scales;
            if (left == scales && right == scales)
                continue;
            uint8_t own[LANES] = {0};
            if (lanes == LANES)
                memcpy(own, events + i * draws + first, LANES);
            else
                memcpy(own, events + i * draws + first, lanes);
            double q = p[i], turn = 1.0 - 2.0 * q;
            uint8_t other = q > 0.5;
            if (right < left) {
                Cell *cell = open + depth++;
                cell->scale = right, cell->size = 1.0, cell->expected = q, cell->square = q * q;
                for (int k = 0; k < LANES; k++) {
                    double y = own[k] ^ other;
                    cell->count[k] = y, cell->linear[k] = turn * y;
                }
                continue;
            }
            Cell *cell = open + depth - 1;
            cell->size += 1.0, cell->expected += q, cell->square += q * q;
            for (int k = 0; k < LANES; k++) {
                double y = own[k] ^ other;
                cell->count[k] += y, cell->linear[k] += turn * y;
            }
            while (depth && open[depth - 1].scale < right) {
                Cell *done = open + depth - 1, *next = depth > 1 ? done - 1 : 0;
                if (!next || next->scale > right) {
                    pairs_of_cell(done, sums, right);
                    done->scale = right;
                    depth -= right == scales;
                    break;
                }
                pairs_of_cell(done, sums, next->scale);
                next->size += done->size, next->expected += done->expected;
                next->square += done->square;
                for (int k = 0; k < LANES; k++)
                    next->count[k] += done->count[k], next->linear[k] += done->linear[k];
                depth--;
            }
        }
        for (int64_t k = 0; k < lanes; k++) {
            double reached = 0.0;
            for (int64_t scale = 0; scale < scales; scale++) {
                reached += sums[scale][k];
                out[scale * draws + first + k] = reached;
            }
        }
    }
}

static const uint64_t START[8] = {
    0x6a09e667f3bcc908, 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b, 0xa54ff53a5f1d36f1,
    0x510e527fade682d1, 0x9b05688c2b3e6c1f, 0x1f83d9abfb41bd6b, 0x5be0cd19137e2179};
static const uint8_t ORDER[10][16] = {{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
                                      {14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3},
                                      {11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4},
                                      {7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8},
                                      {9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13},
                                      {2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9},
                                      {12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11},
                                      {13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10},
                                      {6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5},
                                      {10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0}};

#define TURNED(x, by) ((x) >> (by) | (x) << (64 - (by)))
#define MIX(a, b, c, d, x, y)                                                                      \
    v[a] += v[b] + (x), v[d] = TURNED(v[d] ^ v[a], 32), v[c] += v[d];                              \
    v[b] = TURNED(v[b] ^ v[c], 24), v[a] += v[b] + (y), v[d] = TURNED(v[d] ^ v[a], 16);            \
    v[c] += v[d], v[b] = TURNED(v[b] ^ v[c], 63)

/* One block of BLAKE2b (RFC 7693, section 3.2), of the first `length` bytes of the message. */
static void compress(uint64_t *h, const uint64_t *m, uint64_t length, int last)
{
    uint64_t v[16];
    for (int j = 0; j < 8; j++)
        v[j] = h[j], v[j + 8] = START[j];
    v[12] ^= length;
    v[14] = last ? ~v[14] : v[14];
    for (int round = 0; round < 12; round++) {
        const uint8_t *s = ORDER[round % 10];
        MIX(0, 4, 8, 12, m[s[0]], m[s[1]]);
        MIX(1, 5, 9, 13, m[s[2]], m[s[3]]);
        MIX(2, 6, 10, 14, m[s[4]], m[s[5]]);
        MIX(3, 7, 11, 15, m[s[6]], m[s[7]]);
        MIX(0, 5, 10, 15, m[s[8]], m[s[9]]);
        MIX(1, 6, 11, 12, m[s[10]], m[s[11]]);
        MIX(2, 7, 8, 13, m[s[12]], m[s[13]]);
        MIX(3, 4, 9, 14, m[s[14]], m[s[15]]);
    }
    for (int j = 0; j < 8; j++)
        h[j] ^= v[j] ^ v[j + 8];
}

/* The first `size` bytes (8 at most) of BLAKE2b with a key of 16 bytes of each number, whose bytes
   are taken from the lowest on. */
EXPORTED void keyed_digests(int64_t n, const uint64_t *restrict numbers, const uint8_t *restrict key,
                            int64_t size, uint8_t *restrict out)
{
    uint64_t keyed[8], block[16] = {0};
    memcpy(keyed, START, sizeof keyed);
    keyed[0] ^= 0x01010000 ^ (uint64_t)16 << 8 ^ (uint64_t)size;
    for (int j = 0; j < 16; j++)
        block[j / 8] |= (uint64_t)key[j] << 8 * (j % 8);
    compress(keyed, block, 128, 0);
    memset(block, 0, sizeof block);
    for (int64_t i = 0; i < n; i++) {
        uint64_t h[8];
        memcpy(h, keyed, sizeof h);
        block[0] = numbers[i];
        compress(h, block, 136, 1);
        for (int64_t j = 0; j < size; j++)
            out[i * size + j] = (uint8_t)(h[0] >> 8 * j);
    }
}
