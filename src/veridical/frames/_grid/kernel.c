/* The two loops of kernel.py that cost most, in plain C; NumPy does the same where it is absent.
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

#define VERSION 3
#define LANES 8
#define BLOCK 1024
#define SMALL 512
#define HALF 0x3fe0000000000000LL     /* the bits of 0.5 */
#define NEAR 0x3f90000000000000LL     /* of 2^-6: from here on ten bits of the mantissa count */
#define SMALLEST 0x3ca0000000000000LL /* of 2^-53: from here on seven do */

EXPORTED int64_t version(void) { return VERSION; }

/* Add q by piece, outcome and group: counts, sums of w q and w q (1 - q), and, of weighted rows,
   of w, w^2 and w^2 q (1 - q), each in an array `stride` after the one before.

   The piece of p is guessed by the leading bits of min(p, 1 - p), and raised while p is beyond its
   end, at most `steps` times. No branch depends on where p lies. */
EXPORTED void add_event(int64_t n, const double *restrict q, const uint8_t *restrict tail,
                        int64_t tails, const int64_t *restrict group, int64_t size,
                        const double *restrict weight, const double *restrict ends,
                        const uint16_t *restrict guess, int64_t coarse, int64_t last, int64_t steps,
                        double *restrict sums, int64_t stride)
{
    int32_t unit[BLOCK];
    for (int64_t start = 0; start < n; start += BLOCK) {
        int64_t m = n - start < BLOCK ? n - start : BLOCK;
        const double *own = q + start;
        for (int64_t i = 0; i < m; i++) {
            double p = own[i], rest = 1.0 - p;
            int64_t k, mirrored;
            memcpy(&k, &p, sizeof k);
            memcpy(&mirrored, &rest, sizeof mirrored);
            int64_t above = k >= HALF;
            k ^= (k ^ mirrored) & -above;
            int64_t far = (k >> 45) - (SMALLEST >> 45), near = (k >> 42) - (NEAR >> 42) + coarse;
            k = far ^ ((far ^ near) & -(int64_t)(k >= NEAR));
            k &= ~(k >> 63);
            k = k > last ? last : k;
            unit[i] = guess[k + above * (last + 1)];
        }
        for (int64_t step = 0; step < steps; step++)
            for (int64_t i = 0; i < m; i++)
                unit[i] += own[i] > ends[unit[i]];
        for (int64_t i = 0; i < m; i++) {
            double p = own[i], spread = p * (1.0 - p);
            int64_t at = unit[i] * tails;
            if (tail)
                at += tail[start + i];
            if (group)
                at += group[start + i] * size;
            double *to = sums + at;
            to[0] += 1.0;
            if (weight) {
                double w = weight[start + i];
                to[stride] += w * p;
                to[2 * stride] += w * spread;
                to[3 * stride] += w;
                to[4 * stride] += w * w;
                to[5 * stride] += w * (w * spread);
            } else {
                to[stride] += p;
                to[2 * stride] += spread;
            }
        }
    }
}

/* Sums over rows of two groups of log h, and of h over the length of (p, 1 - p): h is p in the
   second group and 1 - p in the first (out[0], out[2]), or the other way round (out[1], out[3]).
   Logarithms are those of products, 16 at a time, of numbers no smaller than 1e-16. */
FASTEST EXPORTED void sum_scores(int64_t n, const double *p, const int64_t *second, double *out)
{
    double product[2][LANES], sphere[2][LANES];
    int64_t power[2][LANES];
    for (int s = 0; s < 2; s++)
        for (int j = 0; j < LANES; j++)
            product[s][j] = 1.0, sphere[s][j] = 0.0, power[s][j] = 0;
    int64_t i = 0;
    for (int since = 0; i + SMALL <= n; i += SMALL) {
        double h[SMALL], other[SMALL], length[SMALL];
        for (int j = 0; j < SMALL; j++) {
            double a = p[i + j], b = 1.0 - a;
            length[j] = sqrt(1.0 - 2.0 * (a * b));
            h[j] = b, other[j] = a;
        }
        if (second)
            for (int j = 0; j < SMALL; j++) {
                int64_t own = second[i + j];
                double a = other[j], b = h[j];
                h[j] = own ? a : b, other[j] = own ? b : a;
            }
        for (int first = 0; first < SMALL; first += LANES) {
            for (int j = 0; j < LANES; j++)
                product[0][j] *= h[first + j];
            for (int j = 0; j < LANES; j++)
                product[1][j] *= other[first + j];
            for (int j = 0; j < LANES; j++)
                sphere[0][j] += h[first + j] / length[first + j];
            for (int j = 0; j < LANES; j++)
                sphere[1][j] += other[first + j] / length[first + j];
            if (++since == 16) {
                since = 0;
                for (int s = 0; s < 2; s++)
                    for (int j = 0; j < LANES; j++) {
                        int64_t bits;
                        memcpy(&bits, &product[s][j], sizeof bits);
                        power[s][j] += (bits >> 52) - 1023;
                        bits = (bits & 0x000fffffffffffffLL) | 0x3ff0000000000000LL;
                        memcpy(&product[s][j], &bits, sizeof bits);
                    }
            }
        }
    }
    for (int s = 0; s < 2; s++) {
        out[s] = out[2 + s] = 0.0;
        for (int j = 0; j < LANES; j++) {
            out[s] += (double)power[s][j] * 0.69314718055994530942 + log(product[s][j]);
            out[2 + s] += sphere[s][j];
        }
    }
    for (; i < n; i++) {
        double a = p[i], b = 1.0 - a, length = sqrt(1.0 - 2.0 * (a * b));
        int64_t own = second ? second[i] : 0;
        double h = own ? a : b, other = own ? b : a;
        out[0] += log(h), out[1] += log(other);
        out[2] += h / length, out[3] += other / length;
    }
}

/* Of rows of k probabilities: the largest, whether the class that occurred is the first of the
   largest, its probability, and the sum of squares. Returns 0 if a row is no probability vector. */
FASTEST EXPORTED int64_t scan_columns(int64_t n, int64_t k, const double *const *p,
                                      const int64_t *code, double tolerance, double *top,
                                      uint8_t *hit, double *happened, double *squares)
{
    double total[SMALL], low[SMALL];
    int64_t first[SMALL];
    for (int64_t start = 0; start < n; start += SMALL) {
        int64_t m = n - start < SMALL ? n - start : SMALL;
        double *best = top + start, *square = squares + start;
        for (int64_t i = 0; i < m; i++) {
            double v = p[0][start + i];
            total[i] = low[i] = best[i] = v;
            square[i] = v * v;
            first[i] = 0;
        }
        for (int64_t c = 1; c < k; c++) {
            const double *own = p[c] + start;
            for (int64_t i = 0; i < m; i++) {
                double v = own[i];
                total[i] += v;
                square[i] += v * v;
                first[i] = v > best[i] ? c : first[i];
                best[i] = v > best[i] ? v : best[i];
                low[i] = v < low[i] ? v : low[i];
            }
        }
        for (int64_t i = 0; i < m; i++) {
            int64_t y = code[start + i];
            /* a value that is not a number makes the total one, and the comparison false */
            if (!(low[i] >= 0.0 && best[i] <= 1.0 && fabs(total[i] - 1.0) <= tolerance) || y < 0 ||
                y >= k)
                return 0;
            happened[start + i] = p[y][start + i];
            hit[start + i] = y == first[i];
        }
    }
    return 1;
}
