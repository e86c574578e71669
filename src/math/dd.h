/* Double-double numbers: the unevaluated sum of two doubles, some 31 digits (Dekker 1971).  Needs arithmetic
 * that is neither contracted nor extended. */
#ifndef MATH_DD_H
#define MATH_DD_H

typedef struct dd {
    double hi, lo;
} dd;

/* a + b, exactly (Knuth). */
static inline dd two_sum(double a, double b) {
    double s = a + b, t = s - a;
    return (dd){s, (a - (s - t)) + (b - t)};
}

/* a b, exactly, by splitting the factors in halves of 26 bits. */
static inline dd two_product(double a, double b) {
    double p = a * b, t = 134217729.0 * a, ah = t - (t - a), al = a - ah;
    t = 134217729.0 * b;
    double bh = t - (t - b), bl = b - bh;
    return (dd){p, ((ah * bh - p) + ah * bl + al * bh) + al * bl};
}

static inline dd dd_add(dd a, dd b) {
    dd s = two_sum(a.hi, b.hi), t = two_sum(a.lo, b.lo);
    s = two_sum(s.hi, s.lo + t.hi);
    return two_sum(s.hi, s.lo + t.lo);
}

static inline dd dd_sub(dd a, dd b) { return dd_add(a, (dd){-b.hi, -b.lo}); }

static inline dd dd_scale(dd a, double b) {
    dd p = two_product(a.hi, b);
    return two_sum(p.hi, p.lo + a.lo * b);
}

static inline dd dd_mul(dd a, dd b) {
    dd p = two_product(a.hi, b.hi);
    return two_sum(p.hi, p.lo + (a.hi * b.lo + a.lo * b.hi));
}

/* By long division: three digits of 53 bits. */
static inline dd dd_div(dd a, dd b) {
    double q = a.hi / b.hi;
    dd rest = dd_sub(a, dd_scale(b, q));
    double q2 = rest.hi / b.hi;
    rest = dd_sub(rest, dd_scale(b, q2));
    dd sum = two_sum(q, q2);
    return two_sum(sum.hi, sum.lo + rest.hi / b.hi);
}

static inline double dd_value(dd a) { return a.hi + a.lo; }

#endif
