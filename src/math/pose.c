/* The few functions on quaternions and poses that are too long, or too public, to be inline. */
#include "math/vec.h"

quat quat_from_matrix(mat3 m) {
    double trace = m.cx.x + m.cy.y + m.cz.z;
    quat q;
    if (trace >= m.cx.x && trace >= m.cy.y && trace >= m.cz.z)
        q = (quat){1 + trace, m.cy.z - m.cz.y, m.cz.x - m.cx.z, m.cx.y - m.cy.x};
    else if (m.cx.x >= m.cy.y && m.cx.x >= m.cz.z)
        q = (quat){m.cy.z - m.cz.y, 1 + m.cx.x - m.cy.y - m.cz.z, m.cx.y + m.cy.x, m.cz.x + m.cx.z};
    else if (m.cy.y >= m.cz.z)
        q = (quat){m.cz.x - m.cx.z, m.cx.y + m.cy.x, 1 - m.cx.x + m.cy.y - m.cz.z, m.cy.z + m.cz.y};
    else
        q = (quat){m.cx.y - m.cy.x, m.cz.x + m.cx.z, m.cy.z + m.cz.y, 1 - m.cx.x - m.cy.y + m.cz.z};
    return quat_unit(q);
}

abut_pose abut_pose_identity(void) { return pose_identity(); }

abut_vec3 abut_pose_point(abut_pose p, abut_vec3 local) { return pose_point(p, local); }

abut_quat abut_quat_from_axis_angle(abut_vec3 axis, double angle) {
    vec3 u = vec3_scale(vec3_unit(axis), sin(angle / 2));
    return (quat){cos(angle / 2), u.x, u.y, u.z};
}
