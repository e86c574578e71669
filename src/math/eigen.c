/* Symmetric 3x3 eigenproblem by Jacobi's method (Golub and Van Loan, section 8.5): rotate away the largest
 * off-diagonal entry; each sweep squares the off-diagonal norm, so a handful suffice. */
#include "math/eigen.h"

/* Rotates in the plane (p, q) so that a[p][q] becomes zero; v collects the rotations. */
static void rotate(double a[3][3], double v[3][3], int p, int q) {
    double theta = (a[q][q] - a[p][p]) / (2 * a[p][q]);
    double t = (theta >= 0 ? 1 : -1) / (fabs(theta) + sqrt(theta * theta + 1));
    if (!isfinite(theta * theta)) t = 1 / (2 * theta);
    double c = 1 / sqrt(t * t + 1), s = t * c;
    for (int k = 0; k < 3; k++) {
        double kp = a[k][p], kq = a[k][q];
        a[k][p] = c * kp - s * kq, a[k][q] = s * kp + c * kq;
    }
    for (int k = 0; k < 3; k++) {
        double pk = a[p][k], qk = a[q][k];
        a[p][k] = c * pk - s * qk, a[q][k] = s * pk + c * qk;
    }
    a[p][q] = a[q][p] = 0;
    for (int k = 0; k < 3; k++) {
        double kp = v[k][p], kq = v[k][q];
        v[k][p] = c * kp - s * kq, v[k][q] = s * kp + c * kq;
    }
}

/* The power of two that brings the largest entry of the upper triangle near 1, and whose inverse is finite.
 */
static double scale_of(mat3 m) {
    double largest = fmax(fmax(fabs(m.cx.x), vec3_max_abs(m.cz)), fmax(fabs(m.cy.x), fabs(m.cy.y)));
    int exponent;
    frexp(largest, &exponent);
    return ldexp(1, exponent > 1023 ? -1023 : exponent < -1023 ? 1023 : -exponent);
}

void sym3_eigen(mat3 m, vec3 *values, mat3 *vectors) {
    double scale = scale_of(m);
    m = mat3_scale(m, scale); /* exact, so that nothing below overflows or underflows */
    double a[3][3] = {{m.cx.x, m.cy.x, m.cz.x}, {m.cy.x, m.cy.y, m.cz.y}, {m.cz.x, m.cz.y, m.cz.z}};
    double v[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    for (int sweep = 0; sweep < 50; sweep++) {
        int p = 0, q = 1;
        if (fabs(a[0][2]) > fabs(a[p][q])) p = 0, q = 2;
        if (fabs(a[1][2]) > fabs(a[p][q])) p = 1, q = 2;
        /* done when the entry no longer changes either diagonal neighbour */
        if (fabs(a[p][q]) <= 0x1p-60 * (fabs(a[p][p]) + fabs(a[q][q])) || a[p][q] == 0) break;
        rotate(a, v, p, q);
    }
    int order[3] = {0, 1, 2};
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2 - i; j++)
            if (a[order[j]][order[j]] > a[order[j + 1]][order[j + 1]]) {
                int swap = order[j];
                order[j] = order[j + 1], order[j + 1] = swap;
            }
    *values =
        vec3_scale((vec3){a[order[0]][order[0]], a[order[1]][order[1]], a[order[2]][order[2]]}, 1 / scale);
    vectors->cx = (vec3){v[0][order[0]], v[1][order[0]], v[2][order[0]]};
    vectors->cy = (vec3){v[0][order[1]], v[1][order[1]], v[2][order[1]]};
    vectors->cz = vec3_cross(vectors->cx, vectors->cy);
}
