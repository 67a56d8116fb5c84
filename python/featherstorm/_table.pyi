# Written by `featherstorm operations --stub`: the operations that have no function written by hand.
from .model import Model
from .typing import Array, ArrayLike, Frame, Names, Numbers

def gravity(model: Model, q: ArrayLike, *, ignore: Names = (), check: bool = True) -> Array:
    """Gravity torques, tau that holds the robot still.

        tau = g(q) = rnea(q, 0, 0)          RBDA (5.12), (5.13)

    in   q (B, nq): positions of the joints [rad | m]; quaternions of length 1
    out  tau (B, nv): forces at the joints [N m | N]
    Cost O(n) on a chain of n joints."""

def id_delta(model: Model, q: ArrayLike, x: ArrayLike, *, ignore: Names = (), check: bool = True) -> Array:
    """Product M x without M.

        y = M(q) x          RBDA Table 6.1

    in   q (B, nq): positions of the joints [rad | m]; quaternions of length 1
    in   x (B, nv): vector of the velocity space
    out  y (B, nv): vector of the velocity space
    Cost O(n) on a chain of n joints."""

def joint_wrenches(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    *,
    ignore: Names = (),
    check: bool = True,
) -> Array:
    """Wrench each joint transmits, world axes about its child link's origin.

        f_i = I_i a_i + v_i x* I_i v_i + sum over children f_j          RBDA (5.20), Table 5.1

    in   q (B, nq): positions of the joints [rad | m]; quaternions of length 1
    in   v (B, nv): velocities of the joints [rad/s | m/s]
    in   a (B, nv): accelerations of the joints [rad/s^2 | m/s^2]
    out  wrench (B, nb, 6): wrench of each joint on its child link: moment about the link's origin, force; world
           axes [N m, N]
    Cost O(n) on a chain of n joints."""

def ltl(model: Model, M: ArrayLike, *, ignore: Names = (), check: bool = True) -> Array:
    """Factorisation M = L^T L of a packed matrix.

        M = L^T L          RBDA Table 6.3

    in   M (B, nh): packed inertia matrix [kg m^2 | kg m | kg]; positive definite
    out  L (B, nh): factor of the packed inertia matrix: 1/D (ltdl) or the diagonal (ltl) in the diagonal's place
    Cost O(n^3) on a chain of n joints."""

def mul(model: Model, M: ArrayLike, x: ArrayLike, *, ignore: Names = (), check: bool = True) -> Array:
    """y = M x with the packed matrix.

        y = M x          RBDA Table 6.5

    in   M (B, nh): packed inertia matrix [kg m^2 | kg m | kg]; positive definite
    in   x (B, nv): vector of the velocity space
    out  y (B, nv): vector of the velocity space
    Cost O(n^2) on a chain of n joints."""

def solve_ltl(model: Model, L_ltl: ArrayLike, b: ArrayLike, *, ignore: Names = (), check: bool = True) -> Array:
    """x = M^-1 b with the factor of ltl.

        x = M^-1 b          RBDA Table 6.5

    in   L_ltl (B, nh): factor of the packed inertia matrix by ltl
    in   b (B, nv): right-hand side [N m | N]
    out  x (B, nv): vector of the velocity space
    Cost O(n^2) on a chain of n joints."""

def solve_l(model: Model, L: ArrayLike, b: ArrayLike, *, ignore: Names = (), check: bool = True) -> Array:
    """x = L^-1 b with the factor of ltdl.

        x = L^-1 b          RBDA Table 6.5

    in   L (B, nh): factor of the packed inertia matrix: 1/D (ltdl) or the diagonal (ltl) in the diagonal's place
    in   b (B, nv): right-hand side [N m | N]
    out  x (B, nv): vector of the velocity space
    Cost O(n^2) on a chain of n joints."""

def solve_lt(model: Model, L: ArrayLike, b: ArrayLike, *, ignore: Names = (), check: bool = True) -> Array:
    """x = L^-T b with the factor of ltdl.

        x = L^-T b          RBDA Table 6.5

    in   L (B, nh): factor of the packed inertia matrix: 1/D (ltdl) or the diagonal (ltl) in the diagonal's place
    in   b (B, nv): right-hand side [N m | N]
    out  x (B, nv): vector of the velocity space
    Cost O(n^2) on a chain of n joints."""

def mul_l(model: Model, L: ArrayLike, x: ArrayLike, *, ignore: Names = (), check: bool = True) -> Array:
    """y = L x with the factor of ltdl.

        y = L x          RBDA Table 6.5

    in   L (B, nh): factor of the packed inertia matrix: 1/D (ltdl) or the diagonal (ltl) in the diagonal's place
    in   x (B, nv): vector of the velocity space
    out  y (B, nv): vector of the velocity space
    Cost O(n^2) on a chain of n joints."""

def mul_lt(model: Model, L: ArrayLike, x: ArrayLike, *, ignore: Names = (), check: bool = True) -> Array:
    """y = L^T x with the factor of ltdl.

        y = L^T x          RBDA Table 6.5

    in   L (B, nh): factor of the packed inertia matrix: 1/D (ltdl) or the diagonal (ltl) in the diagonal's place
    in   x (B, nv): vector of the velocity space
    out  y (B, nv): vector of the velocity space
    Cost O(n^2) on a chain of n joints."""

def frame_acceleration(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    *,
    frame: Frame,
    ignore: Names = (),
    check: bool = True,
) -> Array:
    """Classical acceleration of a frame, world axes, angular first.

        a_f = J_f a + dJ_f/dt v          RBDA (2.49)

    in   q (B, nq): positions of the joints [rad | m]; quaternions of length 1
    in   v (B, nv): velocities of the joints [rad/s | m/s]
    in   a (B, nv): accelerations of the joints [rad/s^2 | m/s^2]
    out  acceleration (B, 6): angular acceleration and acceleration of the frame's origin, world axes [rad/s^2,
           m/s^2]
    in   frame: by name or number
    Cost O(n) on a chain of n joints."""

def jdot_v(model: Model, q: ArrayLike, v: ArrayLike, *, frame: Frame, ignore: Names = (), check: bool = True) -> Array:
    """Acceleration of a frame at a = 0, world axes, angular first.

        dJ_f/dt v          RBDA (2.49), (4.6)

    in   q (B, nq): positions of the joints [rad | m]; quaternions of length 1
    in   v (B, nv): velocities of the joints [rad/s | m/s]
    out  acceleration (B, 6): angular acceleration and acceleration of the frame's origin, world axes [rad/s^2,
           m/s^2]
    in   frame: by name or number
    Cost O(n) on a chain of n joints."""

def centroidal_momentum_matrix(model: Model, q: ArrayLike, *, ignore: Names = (), check: bool = True) -> Array:
    """Momentum about the centre of mass as a map of v, 6 x nv, angular first.

        h_G = A(q) v          Orin, Goswami and Lee 2013

    in   q (B, nq): positions of the joints [rad | m]; quaternions of length 1
    out  A (B, 6, nv): centroidal momentum matrix: angular, linear; world axes [kg m^2, kg m]
    Cost O(n) on a chain of n joints."""

def centroidal_momentum_rate(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    *,
    ignore: Names = (),
    check: bool = True,
) -> tuple[Array, Array]:
    """dA/dt of the centroidal momentum matrix, and dA/dt v.

        dh_G/dt = A a + A_rate v          Orin, Goswami and Lee 2013

    in   q (B, nq): positions of the joints [rad | m]; quaternions of length 1
    in   v (B, nv): velocities of the joints [rad/s | m/s]
    out  A_rate (B, 6, nv): dA/dt [kg m^2/s, kg m/s]
    out  h_rate (B, 6): dA/dt v: rate of the centroidal momentum at a = 0 [N m, N]
    Cost O(n) on a chain of n joints."""

def com_jacobian(model: Model, q: ArrayLike, *, ignore: Names = (), check: bool = True) -> Array:
    """Jacobian of the centre of mass, 3 x nv, world axes.

        com_velocity = J v          Garofalo et al. (7)

    in   q (B, nq): positions of the joints [rad | m]; quaternions of length 1
    out  J (B, 3, nv): Jacobian of the centre of mass, world axes [m | 1]
    Cost O(n) on a chain of n joints."""

def rk4_step(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    target: ArrayLike,
    *,
    dt: Numbers,
    kp: Numbers,
    kd: Numbers,
    limit_stiffness: Numbers,
    limit_damping: Numbers,
    friction_velocity: Numbers,
    ignore: Names = (),
    check: bool = True,
) -> tuple[Array, Array]:
    """Runge-Kutta steps of order four under torques and PD drives.

        v_next = v + dt (a1 + 2 a2 + 2 a3 + a4)/6,  q_next = q (+) dt (k1 + 2 k2 + 2 k3 + k4)/6          Munthe-Kaas 1998

    in   q (B, nq): positions of the joints [rad | m]; quaternions of length 1
    in   v (B, nv): velocities of the joints [rad/s | m/s]
    in   tau (B, nv): forces at the joints [N m | N]
    in   target (B, nv): positions that the drives aim at [rad | m]
    in   dt: time [s]; >= 0; the same for all instances
    in   kp (nv): stiffness of the drives [N m/rad | N/m]; >= 0; the same for all instances
    in   kd (nv): damping of the drives, implicit [N m s/rad | N s/m]; >= 0; the same for all instances
    in   limit_stiffness: stiffness of the stops [N m/rad | N/m]; >= 0; the same for all instances
    in   limit_damping: damping of the stops [N m s/rad | N s/m]; >= 0; the same for all instances
    in   friction_velocity: velocity at which dry friction has 71 % of its force, not 0 [rad/s | m/s]; >= 0; the
           same for all instances
    out  q_next (B, nq): positions at the end [rad | m]
    out  v_next (B, nv): velocities at the end [rad/s | m/s]
    Cost O(n) on a chain of n joints."""

def rnea_derivatives(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    f_ext: ArrayLike | None = None,
    *,
    ignore: Names = (),
    check: bool = True,
) -> tuple[Array, Array]:
    """Derivatives of inverse dynamics on the tangent space, nv x nv by rows.

        d tau = dtau_dq dq + dtau_dv dv + M da          Carpentier and Mansard 2018

    in   q (B, nq): positions of the joints [rad | m]; quaternions of length 1
    in   v (B, nv): velocities of the joints [rad/s | m/s]
    in   a (B, nv): accelerations of the joints [rad/s^2 | m/s^2]
    in   f_ext (B, nb, 6): external forces on the bodies: moment about the body's origin and force, world axes [N
           m, N]; None: zeros
    out  dtau_dq (B, nv, nv): d tau / d q on the tangent space [N m/rad]
    out  dtau_dv (B, nv, nv): d tau / d v [N m s/rad]
    Cost O(n^2) on a chain of n joints."""

def fd_derivatives(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    f_ext: ArrayLike | None = None,
    *,
    ignore: Names = (),
    check: bool = True,
) -> tuple[Array, Array, Array, Array]:
    """Forward dynamics and its derivatives on the tangent space, nv x nv by rows.

        da_dx = -M^-1 dtau_dx,  da_dtau = M^-1          Carpentier and Mansard 2018

    in   q (B, nq): positions of the joints [rad | m]; quaternions of length 1
    in   v (B, nv): velocities of the joints [rad/s | m/s]
    in   tau (B, nv): forces at the joints [N m | N]
    in   f_ext (B, nb, 6): external forces on the bodies: moment about the body's origin and force, world axes [N
           m, N]; None: zeros
    out  a (B, nv): accelerations of the joints [rad/s^2 | m/s^2]
    out  da_dq (B, nv, nv): d a / d q on the tangent space [1/s^2]
    out  da_dv (B, nv, nv): d a / d v [1/s]
    out  da_dtau (B, nv, nv): d a / d tau = M^-1 [1/(kg m^2)]
    Cost O(n^3) on a chain of n joints."""

def fd_linearization(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    f_ext: ArrayLike | None = None,
    *,
    ignore: Names = (),
    check: bool = True,
) -> tuple[Array, Array, Array]:
    """x' = A x + B tau of forward dynamics, x = (dq, v) on the tangent space.

        d/dt (dq, dv) = A (dq, dv) + B dtau          Garofalo et al. section I

    in   q (B, nq): positions of the joints [rad | m]; quaternions of length 1
    in   v (B, nv): velocities of the joints [rad/s | m/s]
    in   tau (B, nv): forces at the joints [N m | N]
    in   f_ext (B, nb, 6): external forces on the bodies: moment about the body's origin and force, world axes [N
           m, N]; None: zeros
    out  a (B, nv): accelerations of the joints [rad/s^2 | m/s^2]
    out  A (B, 2 nv, 2 nv): d x' / d x, x = (dq, v)
    out  B (B, 2 nv, nv): d x' / d tau
    Cost O(n^3) on a chain of n joints."""

def rnea_second_derivatives(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    f_ext: ArrayLike,
    q_direction: ArrayLike,
    v_direction: ArrayLike,
    a_direction: ArrayLike,
    *,
    ignore: Names = (),
    check: bool = True,
) -> tuple[Array, Array]:
    """Derivatives of rnea_derivatives along a direction of (q, v, a).

        d/de rnea_derivatives(q (+) e u, v + e w, a + e b)          Garofalo et al. (24)

    in   q (B, nq): positions of the joints [rad | m]; quaternions of length 1
    in   v (B, nv): velocities of the joints [rad/s | m/s]
    in   a (B, nv): accelerations of the joints [rad/s^2 | m/s^2]
    in   f_ext (B, nb, 6): external forces on the bodies: moment about the body's origin and force, world axes [N
           m, N]; None: zeros
    in   q_direction (B, nv): direction in q, on the tangent space [rad | m]
    in   v_direction (B, nv): direction in v [rad/s | m/s]
    in   a_direction (B, nv): direction in a [rad/s^2 | m/s^2]
    out  by_q (B, nv, nv): derivative, along the direction, of that by q
    out  by_v (B, nv, nv): derivative, along the direction, of that by v
    Cost O(n^2) on a chain of n joints."""

def crba_rate(model: Model, q: ArrayLike, v: ArrayLike, *, ignore: Names = (), check: bool = True) -> Array:
    """dM/dt, packed.

        dM/dt          Garofalo et al. (25a)

    in   q (B, nq): positions of the joints [rad | m]; quaternions of length 1
    in   v (B, nv): velocities of the joints [rad/s | m/s]
    out  M_rate (B, nh): dM/dt, packed [kg m^2/s]
    Cost O(n^2) on a chain of n joints."""

def coriolis_matrix(model: Model, q: ArrayLike, v: ArrayLike, *, ignore: Names = (), check: bool = True) -> Array:
    """Coriolis matrix of the Christoffel symbols, nv x nv.

        C v = rnea(q, v, 0) without gravity,  C + C^T = dM/dt          Lynch and Park (9.87); Echeandia and Wensing 2021

    in   q (B, nq): positions of the joints [rad | m]; quaternions of length 1
    in   v (B, nv): velocities of the joints [rad/s | m/s]
    out  C (B, nv, nv): Coriolis matrix: C v is the bias force without gravity [kg m^2/s]
    Cost O(n^2) on a chain of n joints."""

def coriolis_matrix_body_fixed(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    *,
    ignore: Names = (),
    check: bool = True,
) -> Array:
    """Coriolis matrix of Garofalo, Ott and Albu-Schaeffer, nv x nv.

        C = sum J^T (Psi J + I dJ/dt)          Garofalo et al. (6b)

    in   q (B, nq): positions of the joints [rad | m]; quaternions of length 1
    in   v (B, nv): velocities of the joints [rad/s | m/s]
    out  C (B, nv, nv): Coriolis matrix: C v is the bias force without gravity [kg m^2/s]
    Cost O(n^2) on a chain of n joints."""

def coriolis_matrix_mass_centre(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    *,
    ignore: Names = (),
    check: bool = True,
) -> Array:
    """Coriolis matrix of Liu and Jain, at the mass centres, nv x nv.

        C = J^T M_c dJ/dt + J^T w~ M_c J          Liu and Jain (46)

    in   q (B, nq): positions of the joints [rad | m]; quaternions of length 1
    in   v (B, nv): velocities of the joints [rad/s | m/s]
    out  C (B, nv, nv): Coriolis matrix: C v is the bias force without gravity [kg m^2/s]
    Cost O(n^2) on a chain of n joints."""

def coriolis_matrix_rate(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    q_direction: ArrayLike,
    v_direction: ArrayLike,
    *,
    ignore: Names = (),
    check: bool = True,
) -> Array:
    """Derivative of coriolis_matrix along a direction of (q, v).

        d/de C(q (+) e u, v + e w)          Garofalo et al. (25b)

    in   q (B, nq): positions of the joints [rad | m]; quaternions of length 1
    in   v (B, nv): velocities of the joints [rad/s | m/s]
    in   q_direction (B, nv): direction in q, on the tangent space [rad | m]
    in   v_direction (B, nv): direction in v [rad/s | m/s]
    out  C_rate (B, nv, nv): derivative of the Coriolis matrix along the direction
    Cost O(n^2) on a chain of n joints."""

def gravity_torques_rate(
    model: Model,
    q: ArrayLike,
    q_direction: ArrayLike,
    *,
    ignore: Names = (),
    check: bool = True,
) -> Array:
    """Derivative of gravity torques along a direction of q.

        d/de g(q (+) e u)          Garofalo et al. (25c)

    in   q (B, nq): positions of the joints [rad | m]; quaternions of length 1
    in   q_direction (B, nv): direction in q, on the tangent space [rad | m]
    out  tau_rate (B, nv): rate of the joint forces [N m/s | N/s]
    Cost O(n) on a chain of n joints."""

def jacobian_rate(
    model: Model,
    q: ArrayLike,
    q_direction: ArrayLike,
    *,
    frame: Frame,
    ignore: Names = (),
    check: bool = True,
) -> Array:
    """Derivative of a frame's Jacobian along a direction of q, 6 x nv.

        d/de J(q (+) e u)          Garofalo et al. (28)-(32)

    in   q (B, nq): positions of the joints [rad | m]; quaternions of length 1
    in   q_direction (B, nv): direction in q, on the tangent space [rad | m]
    out  J_rate (B, 6, nv): rate of the Jacobian [1/s]
    in   frame: by name or number
    Cost O(n) on a chain of n joints."""

def jacobian_second_rate(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    q_direction: ArrayLike,
    v_direction: ArrayLike,
    *,
    frame: Frame,
    ignore: Names = (),
    check: bool = True,
) -> Array:
    """Derivative of jacobian_rate at v along a direction of (q, v), 6 x nv.

        d/de J_rate(q (+) e u, v + e w)          Garofalo et al. section V

    in   q (B, nq): positions of the joints [rad | m]; quaternions of length 1
    in   v (B, nv): velocities of the joints [rad/s | m/s]
    in   q_direction (B, nv): direction in q, on the tangent space [rad | m]
    in   v_direction (B, nv): direction in v [rad/s | m/s]
    out  J_second_rate (B, 6, nv): second rate of the Jacobian [1/s^2]
    in   frame: by name or number
    Cost O(n) on a chain of n joints."""

def operational_space(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    *,
    frame: Frame,
    regularisation: Numbers,
    tolerance: Numbers,
    ignore: Names = (),
    check: bool = True,
) -> tuple[Array, Array, Array, Array, Array]:
    """Equation of motion of a frame: J M^-1 J^T, its inverse, velocity and gravity force, consistent inverse of J.

        Lambda a + mu + p = J_inverse^T tau,  Phi = J M^-1 J^T,  Lambda = Phi^-1          RBDA (7.5)-(7.14); Khatib 1987

    in   q (B, nq): positions of the joints [rad | m]; quaternions of length 1
    in   v (B, nv): velocities of the joints [rad/s | m/s]
    in   regularisation: added to the diagonal of Phi [1/kg]; >= 0; the same for all instances
    in   tolerance: of pivots beside the largest: below it a row depends on others; >= 0; the same for all
           instances
    out  Phi (B, 6, 6): inverse operational-space inertia J M^-1 J^T, world axes, angular first [1/(kg m^2), 1/kg]
    out  Lambda (B, 6, 6): operational-space inertia, generalised inverse of Phi [kg m^2, kg]
    out  mu (B, 6): velocity-product force at the frame [N m, N]
    out  p (B, 6): gravity force at the frame [N m, N]
    out  J_inverse (B, 6, nv): dynamically consistent inverse of J, transposed
    in   frame: by name or number
    Cost O(n^3) on a chain of n joints."""

def operational_inertia(model: Model, q: ArrayLike, *, frame: Frame, ignore: Names = (), check: bool = True) -> Array:
    """J M^-1 J^T of a frame, 6 x 6, world axes, angular first.

        Phi = J M^-1 J^T          RBDA (7.4), (7.8)

    in   q (B, nq): positions of the joints [rad | m]; quaternions of length 1
    out  Phi (B, 6, 6): inverse operational-space inertia J M^-1 J^T, world axes, angular first [1/(kg m^2), 1/kg]
    in   frame: by name or number
    Cost O(n) on a chain of n joints."""

def regressor(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    *,
    ignore: Names = (),
    check: bool = True,
) -> Array:
    """Tau = Y pi + armature a: inverse dynamics by inertial parameters, nv x 10 nb.

        tau = Y pi + armature a          Garofalo et al. (8)-(12)

    in   q (B, nq): positions of the joints [rad | m]; quaternions of length 1
    in   v (B, nv): velocities of the joints [rad/s | m/s]
    in   a (B, nv): accelerations of the joints [rad/s^2 | m/s^2]
    out  Y (B, nv, 10 nb): regressor by the parameters m, m c, Ixx Iyy Izz Ixy Ixz Iyz of each body, its axes
    Cost O(n^2) on a chain of n joints."""

def slotine_li_regressor(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    v_r: ArrayLike,
    a_r: ArrayLike,
    *,
    ignore: Names = (),
    check: bool = True,
) -> Array:
    """M a_r + C v_r + g = Y pi + armature a_r, C of coriolis_matrix, nv x 10 nb.

        M a_r + C v_r + g = Y pi + armature a_r          Garofalo et al. (15), (16)

    in   q (B, nq): positions of the joints [rad | m]; quaternions of length 1
    in   v (B, nv): velocities of the joints [rad/s | m/s]
    in   v_r (B, nv): reference velocities [rad/s | m/s]
    in   a_r (B, nv): reference accelerations [rad/s^2 | m/s^2]
    out  Y (B, nv, 10 nb): regressor by the parameters m, m c, Ixx Iyy Izz Ixy Ixz Iyz of each body, its axes
    Cost O(n^2) on a chain of n joints."""

def slotine_li_regressor_body_fixed(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    v_r: ArrayLike,
    a_r: ArrayLike,
    *,
    ignore: Names = (),
    check: bool = True,
) -> Array:
    """slotine_li_regressor with coriolis_matrix_body_fixed, nv x 10 nb.

        M a_r + C v_r + g = Y pi + armature a_r          Garofalo et al. (15), (16), (6b)

    in   q (B, nq): positions of the joints [rad | m]; quaternions of length 1
    in   v (B, nv): velocities of the joints [rad/s | m/s]
    in   v_r (B, nv): reference velocities [rad/s | m/s]
    in   a_r (B, nv): reference accelerations [rad/s^2 | m/s^2]
    out  Y (B, nv, 10 nb): regressor by the parameters m, m c, Ixx Iyy Izz Ixy Ixz Iyz of each body, its axes
    Cost O(n^2) on a chain of n joints."""

def momentum_regressor(model: Model, q: ArrayLike, v: ArrayLike, *, ignore: Names = (), check: bool = True) -> Array:
    """M v = Y pi + armature v, nv x 10 nb.

        M v = Y pi + armature v          Garofalo et al. (8)-(12)

    in   q (B, nq): positions of the joints [rad | m]; quaternions of length 1
    in   v (B, nv): velocities of the joints [rad/s | m/s]
    out  Y (B, nv, 10 nb): regressor by the parameters m, m c, Ixx Iyy Izz Ixy Ixz Iyz of each body, its axes
    Cost O(n^2) on a chain of n joints."""

def energy_regressor(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    *,
    ignore: Names = (),
    check: bool = True,
) -> tuple[Array, Array]:
    """Kinetic and potential energy by inertial parameters, 10 nb each.

        T = y_T . pi + 1/2 armature v^2,  V = y_V . pi          Garofalo et al. (8)-(12)

    in   q (B, nq): positions of the joints [rad | m]; quaternions of length 1
    in   v (B, nv): velocities of the joints [rad/s | m/s]
    out  y_T (B, 10 nb): kinetic energy by the parameters
    out  y_V (B, 10 nb): potential energy by the parameters
    Cost O(n) on a chain of n joints."""

def hybrid_dynamics(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    tau: ArrayLike,
    f_ext: ArrayLike | None = None,
    *,
    prescribed: Numbers,
    ignore: Names = (),
    check: bool = True,
) -> tuple[Array, Array]:
    """Some coordinates are given a, the others tau; prescribed: 1 for those with given a, else 0.

        H11 a1 = tau1 - C'1,  tau2 = C'2 + H21 a1,  C' = rnea(q, v, (0, a2))          RBDA (9.1)-(9.3)

    in   q (B, nq): positions of the joints [rad | m]; quaternions of length 1
    in   v (B, nv): velocities of the joints [rad/s | m/s]
    in   a (B, nv): accelerations of the joints [rad/s^2 | m/s^2]
    in   tau (B, nv): forces at the joints [N m | N]
    in   f_ext (B, nb, 6): external forces on the bodies: moment about the body's origin and force, world axes [N
           m, N]; None: zeros
    in   prescribed (nv): 1 for coordinates with given a, else 0; 0 or 1; the same for all instances
    out  a (B, nv): accelerations of the joints [rad/s^2 | m/s^2]
    out  tau (B, nv): forces at the joints [N m | N]
    Cost O(n^3) on a chain of n joints."""

def floating_inertia(model: Model, q: ArrayLike, *, ignore: Names = (), check: bool = True) -> tuple[Array, Array]:
    """Composite inertia of a floating robot and its momentum by each joint's velocity.

        (I0 F; F^T H) (a0; a) + (p0; C) = (0; tau)          RBDA (9.13), Table 9.5

    in   q (B, nq): positions of the joints [rad | m]; quaternions of length 1
    out  I0 (B, 6, 6): composite inertia of the robot, base axes [kg m^2, kg m, kg]
    out  F (B, 6, (nv - 6)): momentum by each joint's velocity, base axes [kg m, kg]
    For robots with a floating base.
    Cost O(n) on a chain of n joints."""

def floating_bias(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    f_ext: ArrayLike | None = None,
    *,
    ignore: Names = (),
    check: bool = True,
) -> tuple[Array, Array]:
    """Bias force on a floating base, its axes, and on the joints.

        (I0 F; F^T H) (a0; a) + (p0; C) = (0; tau)          RBDA (9.13), Table 9.5

    in   q (B, nq): positions of the joints [rad | m]; quaternions of length 1
    in   v (B, nv): velocities of the joints [rad/s | m/s]
    in   f_ext (B, nb, 6): external forces on the bodies: moment about the body's origin and force, world axes [N
           m, N]; None: zeros
    out  p0 (B, 6): bias force on the base, base axes [N m, N]
    out  C (B, (nv - 6)): bias force on the joints [N m | N]
    For robots with a floating base.
    Cost O(n) on a chain of n joints."""

def floating_id(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    f_ext: ArrayLike | None = None,
    *,
    ignore: Names = (),
    check: bool = True,
) -> tuple[Array, Array]:
    """Inverse dynamics with the joints' accelerations known and the floating base's not.

        a0 = -I0^-1 (p0 + F a),  tau = C + F^T a0 + H a          RBDA Table 9.6

    in   q (B, nq): positions of the joints [rad | m]; quaternions of length 1
    in   v (B, nv): velocities of the joints [rad/s | m/s]
    in   a (B, nv): accelerations of the joints [rad/s^2 | m/s^2]
    in   f_ext (B, nb, 6): external forces on the bodies: moment about the body's origin and force, world axes [N
           m, N]; None: zeros
    out  a (B, nv): accelerations of the joints [rad/s^2 | m/s^2]
    out  tau (B, nv): forces at the joints [N m | N]
    For robots with a floating base.
    Cost O(n) on a chain of n joints."""

def floating_jacobian(model: Model, q: ArrayLike, *, frame: Frame, ignore: Names = (), check: bool = True) -> Array:
    """Jacobian of a frame by the joints while momentum is conserved, 6 x (nv - 6).

        J = J_joints - J_base I0^-1 F          RBDA section 9.3

    in   q (B, nq): positions of the joints [rad | m]; quaternions of length 1
    out  J (B, 6, (nv - 6)): Jacobian by the joints' velocities, world axes [1 | m]
    in   frame: by name or number
    For robots with a floating base.
    Cost O(n) on a chain of n joints."""

def loop_constraints(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    *,
    rate: Numbers,
    ignore: Names = (),
    check: bool = True,
) -> tuple[Array, Array, Array]:
    """Constraints of closed loops, K a = k, and the loops' errors delta.

        K a = k          RBDA (8.21), Tables 8.2-8.4

    in   q (B, nq): positions of the joints [rad | m]; quaternions of length 1
    in   v (B, nv): velocities of the joints [rad/s | m/s]
    in   rate: Baumgarte's 1 / T_stab; 0: no stabilisation [1/s]; >= 0; the same for all instances
    out  K (B, n_constraints, nv): Jacobian of the constraints
    out  k (B, n_constraints): what the constraints ask of K a
    out  delta (B, n_constraints): errors of the loops' positions [rad | m]
    For robots with kinematic loops.
    Cost O(n) on a chain of n joints."""

def loop_forces(model: Model, q: ArrayLike, f_loop: ArrayLike, *, ignore: Names = (), check: bool = True) -> Array:
    """Joint forces that stand for what loop joints exert; f_loop: on successors, their axes, moment first.

        tau = sum over loops J^T f_loop          RBDA section 8.4

    in   q (B, nq): positions of the joints [rad | m]; quaternions of length 1
    in   f_loop (B, nl, 6): force of each loop joint on its successor, successor's axes, moment first [N m, N]
    out  tau (B, nv): forces at the joints [N m | N]
    For robots with kinematic loops.
    Cost O(n) on a chain of n joints."""

def loop_placements(model: Model, q: ArrayLike, *, ignore: Names = (), check: bool = True) -> Array:
    """Position and rotation (by rows) of each loop's successor frame in its predecessor frame.

        X_loop = X_p^-1 X_s          RBDA section 8.2

    in   q (B, nq): positions of the joints [rad | m]; quaternions of length 1
    out  X_loop (B, nl, 12): position and rotation, by rows, of the successor frame in the predecessor frame [m,
           1]
    For robots with kinematic loops.
    Cost O(n) on a chain of n joints."""

def fd_loops(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    f_ext: ArrayLike | None = None,
    *,
    rate: Numbers,
    tolerance: Numbers,
    ignore: Names = (),
    check: bool = True,
) -> tuple[Array, Array, Array]:
    """Forward dynamics of closed loops, their constraint forces, and the rank of K.

        M a = tau - C + K^T lambda,  K a = k          RBDA (8.37)-(8.41)

    in   q (B, nq): positions of the joints [rad | m]; quaternions of length 1
    in   v (B, nv): velocities of the joints [rad/s | m/s]
    in   tau (B, nv): forces at the joints [N m | N]
    in   f_ext (B, nb, 6): external forces on the bodies: moment about the body's origin and force, world axes [N
           m, N]; None: zeros
    in   rate: Baumgarte's 1 / T_stab; 0: no stabilisation [1/s]; >= 0; the same for all instances
    in   tolerance: of pivots beside the largest: below it a row depends on others; >= 0; the same for all
           instances
    out  a (B, nv): accelerations of the joints [rad/s^2 | m/s^2]
    out  lambda (B, n_constraints): constraint forces [N m | N]
    out  rank (B, 1): rank of the constraints
    For robots with kinematic loops.
    Cost O(n^3) on a chain of n joints."""

def hybrid_loops(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    tau: ArrayLike,
    f_ext: ArrayLike | None = None,
    *,
    prescribed: Numbers,
    rate: Numbers,
    tolerance: Numbers,
    ignore: Names = (),
    check: bool = True,
) -> tuple[Array, Array, Array, Array, Array]:
    """Hybrid dynamics of closed loops: prescribed coordinates are given a, the others tau.

        H11 a1 = tau1 - C'1 + K1^T lambda,  K1 a1 = k - K2 a2,  tau2 = C'2 + H21 a1 - K2^T lambda          RBDA (9.1), (8.37)-(8.41); Kim section 3.3

    in   q (B, nq): positions of the joints [rad | m]; quaternions of length 1
    in   v (B, nv): velocities of the joints [rad/s | m/s]
    in   a (B, nv): accelerations of the joints [rad/s^2 | m/s^2]
    in   tau (B, nv): forces at the joints [N m | N]
    in   f_ext (B, nb, 6): external forces on the bodies: moment about the body's origin and force, world axes [N
           m, N]; None: zeros
    in   prescribed (nv): 1 for coordinates with given a, else 0; 0 or 1; the same for all instances
    in   rate: Baumgarte's 1 / T_stab; 0: no stabilisation [1/s]; >= 0; the same for all instances
    in   tolerance: of pivots beside the largest: below it a row depends on others; >= 0; the same for all
           instances
    out  a (B, nv): accelerations of the joints [rad/s^2 | m/s^2]
    out  tau (B, nv): forces at the joints [N m | N]
    out  lambda (B, n_constraints): constraint forces [N m | N]
    out  rank (B, 1): rank of the constraints
    out  violation (B, n_constraints): what of K a = k the prescribed accelerations violate
    For robots with kinematic loops.
    Cost O(n^3) on a chain of n joints."""

def independent_map(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    *,
    independent: Numbers,
    rate: Numbers,
    tolerance: Numbers,
    ignore: Names = (),
    check: bool = True,
) -> tuple[Array, Array, Array]:
    """Motions that loops admit, v = G y and a = G y' + g, y the independent coordinates; other columns are 0.

        K (G y' + g) = k for every y'          RBDA section 8.5, (8.8)

    in   q (B, nq): positions of the joints [rad | m]; quaternions of length 1
    in   v (B, nv): velocities of the joints [rad/s | m/s]
    in   independent (nv): 1 for the coordinates chosen as independent, else 0; 0 or 1; the same for all instances
    in   rate: Baumgarte's 1 / T_stab; 0: no stabilisation [1/s]; >= 0; the same for all instances
    in   tolerance: of pivots beside the largest: below it a row depends on others; >= 0; the same for all
           instances
    out  G (B, nv, nv): v = G y; columns of dependent coordinates are 0
    out  g (B, nv): a = G y' + g [rad/s^2 | m/s^2]
    out  rank (B, 1): rank of the constraints
    For robots with kinematic loops.
    Cost O(n^3) on a chain of n joints."""

def id_loops(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    tau: ArrayLike,
    f_ext: ArrayLike | None = None,
    *,
    independent: Numbers,
    actuated: Numbers,
    tolerance: Numbers,
    ignore: Names = (),
    check: bool = True,
) -> tuple[Array, Array, Array]:
    """Inverse dynamics of closed loops: the shortest motor forces; tau in: of joints without motors.

        G^T tau = G^T (M a + C)          RBDA (8.61)-(8.63); Kim (56)-(66)

    in   q (B, nq): positions of the joints [rad | m]; quaternions of length 1
    in   v (B, nv): velocities of the joints [rad/s | m/s]
    in   a (B, nv): accelerations of the joints [rad/s^2 | m/s^2]
    in   tau (B, nv): forces at the joints [N m | N]
    in   f_ext (B, nb, 6): external forces on the bodies: moment about the body's origin and force, world axes [N
           m, N]; None: zeros
    in   independent (nv): 1 for the coordinates chosen as independent, else 0; 0 or 1; the same for all instances
    in   actuated (nv): 1 for coordinates with a motor, else 0; 0 or 1; the same for all instances
    in   tolerance: of pivots beside the largest: below it a row depends on others; >= 0; the same for all
           instances
    out  tau (B, nv): forces at the joints [N m | N]
    out  rank (B, 1): rank of the constraints
    out  missing (B, nv): what no motor forces can give [N m | N]
    For robots with kinematic loops.
    Cost O(n^3) on a chain of n joints."""

def id_loops_least_constraint(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    tau: ArrayLike,
    f_ext: ArrayLike | None = None,
    *,
    actuated: Numbers,
    tolerance: Numbers,
    ignore: Names = (),
    check: bool = True,
) -> tuple[Array, Array]:
    """id_loops with the shortest constraint forces in place of the shortest motor forces.

        M a + C = tau + K^T lambda, |lambda| least          Kim section 3.1

    in   q (B, nq): positions of the joints [rad | m]; quaternions of length 1
    in   v (B, nv): velocities of the joints [rad/s | m/s]
    in   a (B, nv): accelerations of the joints [rad/s^2 | m/s^2]
    in   tau (B, nv): forces at the joints [N m | N]
    in   f_ext (B, nb, 6): external forces on the bodies: moment about the body's origin and force, world axes [N
           m, N]; None: zeros
    in   actuated (nv): 1 for coordinates with a motor, else 0; 0 or 1; the same for all instances
    in   tolerance: of pivots beside the largest: below it a row depends on others; >= 0; the same for all
           instances
    out  tau (B, nv): forces at the joints [N m | N]
    out  lambda (B, n_constraints): constraint forces [N m | N]
    For robots with kinematic loops.
    Cost O(n^3) on a chain of n joints."""

def coupled_velocity(model: Model, u: ArrayLike, *, ignore: Names = (), check: bool = True) -> Array:
    """v = G u: all velocities from the independent ones.

        v = G u          RBDA section 9.6

    in   u (B, nu): velocities of the joints that are not coupled [rad/s | m/s]
    out  v (B, nv): velocities of the joints [rad/s | m/s]
    For robots with coupled joints.
    Cost O(n) on a chain of n joints."""

def coupled_position(model: Model, q: ArrayLike, *, ignore: Names = (), check: bool = True) -> Array:
    """q with the positions of coupled joints as their drivers have them.

        q_k = ratio q_driver + offset          RBDA section 9.6

    in   q (B, nq): positions of the joints [rad | m]; quaternions of length 1
    out  q_coupled (B, nq): positions that satisfy the couplings [rad | m]
    For robots with coupled joints.
    Cost O(n) on a chain of n joints."""

def coupled_force(model: Model, tau: ArrayLike, *, ignore: Names = (), check: bool = True) -> Array:
    """tau_u = G^T tau: joint forces as felt at the independent joints.

        tau_u = G^T tau          RBDA (9.26)

    in   tau (B, nv): forces at the joints [N m | N]
    out  tau_u (B, nu): forces at the independent joints [N m | N]
    For robots with coupled joints.
    Cost O(n) on a chain of n joints."""

def coupled_inertia(model: Model, M: ArrayLike, *, ignore: Names = (), check: bool = True) -> Array:
    """G^T M G, nu x nu, of a packed matrix.

        M_u = G^T M G          RBDA (9.26)

    in   M (B, nh): packed inertia matrix [kg m^2 | kg m | kg]; positive definite
    out  M_u (B, nu, nu): inertia matrix of the independent joints [kg m^2 | kg]
    For robots with coupled joints.
    Cost O(n^2) on a chain of n joints."""

def coupled_id(
    model: Model,
    q: ArrayLike,
    u: ArrayLike,
    u_rate: ArrayLike,
    f_ext: ArrayLike | None = None,
    *,
    ignore: Names = (),
    check: bool = True,
) -> Array:
    """Inverse dynamics of coupled joints, tau_u = G^T (M G u' + C).

        tau_u = G^T (M G u' + C)          RBDA (9.26), (9.27)

    in   q (B, nq): positions of the joints [rad | m]; quaternions of length 1
    in   u (B, nu): velocities of the joints that are not coupled [rad/s | m/s]
    in   u_rate (B, nu): du/dt [rad/s^2 | m/s^2]
    in   f_ext (B, nb, 6): external forces on the bodies: moment about the body's origin and force, world axes [N
           m, N]; None: zeros
    out  tau_u (B, nu): forces at the independent joints [N m | N]
    For robots with coupled joints.
    Cost O(n) on a chain of n joints."""

def fd_coupled(
    model: Model,
    q: ArrayLike,
    u: ArrayLike,
    tau: ArrayLike,
    f_ext: ArrayLike | None = None,
    *,
    ignore: Names = (),
    check: bool = True,
) -> tuple[Array, Array]:
    """Forward dynamics of coupled joints, G^T M G u' = G^T (tau - C), a = G u'.

        G^T M G u' = G^T (tau - C),  a = G u'          RBDA (9.26), (9.27)

    in   q (B, nq): positions of the joints [rad | m]; quaternions of length 1
    in   u (B, nu): velocities of the joints that are not coupled [rad/s | m/s]
    in   tau (B, nv): forces at the joints [N m | N]
    in   f_ext (B, nb, 6): external forces on the bodies: moment about the body's origin and force, world axes [N
           m, N]; None: zeros
    out  u_rate (B, nu): du/dt [rad/s^2 | m/s^2]
    out  a (B, nv): accelerations of the joints [rad/s^2 | m/s^2]
    For robots with coupled joints.
    Cost O(n^3) on a chain of n joints."""

def contact_jacobian(
    model: Model,
    q: ArrayLike,
    *,
    ignore: Names = (),
    check: bool = True,
) -> tuple[Array, Array, Array]:
    """gaps, margins inside the edges of their surfaces, and G v, the velocity at contacts: normal, two tangents.

        gap rates and slips = G v          RBDA (11.25)-(11.31)

    in   q (B, nq): positions of the joints [rad | m]; quaternions of length 1
    out  gap (B, nc): distance of each contact's surfaces, negative where they penetrate [m]
    out  margin (B, nc): distance inside the edge of the surface, negative beyond it [m]
    out  G (B, 3 nc, nv): Jacobian of the contacts: normal, two tangents of each [1 | m]
    For robots with contacts.
    Cost O(n) on a chain of n joints."""

def contact_frames(model: Model, q: ArrayLike, *, ignore: Names = (), check: bool = True) -> Array:
    """Of each contact the point, normal and two tangents in the world.

        normal from the surface to the sphere          RBDA (11.25)-(11.31)

    in   q (B, nq): positions of the joints [rad | m]; quaternions of length 1
    out  contact_frame (B, nc, 12): point, normal, two tangents of each contact, world axes [m, 1]
    For robots with contacts.
    Cost O(n) on a chain of n joints."""

def contact_rates(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    *,
    ignore: Names = (),
    check: bool = True,
) -> tuple[Array, Array]:
    """Rates of gaps, and what of their second rates does not depend on accelerations.

        d^2 gap/dt^2 = G_n a + gap_bias          RBDA (11.37)-(11.40)

    in   q (B, nq): positions of the joints [rad | m]; quaternions of length 1
    in   v (B, nv): velocities of the joints [rad/s | m/s]
    out  gap_rate (B, nc): rates of the gaps [m/s]
    out  gap_bias (B, nc): second rates of the gaps at a = 0 [m/s^2]
    For robots with contacts.
    Cost O(n) on a chain of n joints."""

def contact_inertia(model: Model, q: ArrayLike, *, ignore: Names = (), check: bool = True) -> Array:
    """Delassus matrix G M^-1 G^T of normals and tangents, 3 nc x 3 nc.

        A = G M^-1 G^T          RBDA (11.57)

    in   q (B, nq): positions of the joints [rad | m]; quaternions of length 1
    out  A (B, 3 nc, 3 nc): Delassus matrix of normals and tangents [1/kg]
    For robots with contacts.
    Cost O(n^3) on a chain of n joints."""

def contact_system(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    f_ext: ArrayLike | None = None,
    *,
    ignore: Names = (),
    check: bool = True,
) -> tuple[Array, Array, Array, Array, Array]:
    """Normals alone: gaps, their rates, second rates A lambda + d under contact forces lambda.

        d^2 gap/dt^2 = A lambda + d          RBDA (11.34)-(11.36)

    in   q (B, nq): positions of the joints [rad | m]; quaternions of length 1
    in   v (B, nv): velocities of the joints [rad/s | m/s]
    in   tau (B, nv): forces at the joints [N m | N]
    in   f_ext (B, nb, 6): external forces on the bodies: moment about the body's origin and force, world axes [N
           m, N]; None: zeros
    out  gap (B, nc): distance of each contact's surfaces, negative where they penetrate [m]
    out  margin (B, nc): distance inside the edge of the surface, negative beyond it [m]
    out  gap_rate (B, nc): rates of the gaps [m/s]
    out  A (B, nc, nc): Delassus matrix of normals [1/kg]
    out  d (B, nc): second rates of the gaps without contact forces [m/s^2]
    For robots with contacts.
    Cost O(n^3) on a chain of n joints."""

def fd_contacts(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    f_ext: ArrayLike,
    touching: ArrayLike,
    force: ArrayLike,
    *,
    ignore: Names = (),
    check: bool = True,
) -> tuple[Array, Array]:
    """Forward dynamics with frictionless contacts; touching: 1 for contacts to be solved for; force: a first guess.

        M a = tau - C + G_n^T force,  gaps' second rates >= 0, force >= 0, complementary          RBDA (11.34)-(11.36)

    in   q (B, nq): positions of the joints [rad | m]; quaternions of length 1
    in   v (B, nv): velocities of the joints [rad/s | m/s]
    in   tau (B, nv): forces at the joints [N m | N]
    in   f_ext (B, nb, 6): external forces on the bodies: moment about the body's origin and force, world axes [N
           m, N]; None: zeros
    in   touching (B, nc): 1 for contacts to be solved for, else 0
    in   force (B, nc): normal forces [N]
    out  a (B, nv): accelerations of the joints [rad/s^2 | m/s^2]
    out  force (B, nc): normal forces [N]
    For robots with contacts.
    Cost O(n^3) on a chain of n joints."""

def contact_impulse(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    active: ArrayLike,
    impulse: ArrayLike,
    *,
    ignore: Names = (),
    check: bool = True,
) -> tuple[Array, Array]:
    """Impact at contacts with restitution and friction; active: 1 for closed contacts; impulse: a first guess.

        M (v_next - v) = G^T impulse; restitution, Coulomb's law          RBDA (11.57)-(11.59), (11.64)

    in   q (B, nq): positions of the joints [rad | m]; quaternions of length 1
    in   v (B, nv): velocities of the joints [rad/s | m/s]
    in   active (B, nc): 1 for closed contacts, else 0
    in   impulse (B, nc, 3): impulse of each contact: normal, two tangents [N s]
    out  v_next (B, nv): velocities at the end [rad/s | m/s]
    out  impulse (B, nc, 3): impulse of each contact: normal, two tangents [N s]
    For robots with contacts.
    Cost O(n^3) on a chain of n joints."""

def soft_contact_forces(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    deformation: ArrayLike,
    f_ext: ArrayLike | None = None,
    *,
    K_n: Numbers,
    D_n: Numbers,
    K_t: Numbers,
    D_t: Numbers,
    rolling: Numbers,
    ignore: Names = (),
    check: bool = True,
) -> tuple[Array, Array, Array]:
    """f_ext with the forces of soft contacts; deformation of their surfaces, axes of the bodies that carry them.

        f_n = -K_n z - D_n z',  f_t = -K_t x - D_t x', within the friction disc          RBDA (11.73)-(11.79)

    in   q (B, nq): positions of the joints [rad | m]; quaternions of length 1
    in   v (B, nv): velocities of the joints [rad/s | m/s]
    in   deformation (B, nc, 3): deformation of each contact's surface: normal, two tangents [m]
    in   f_ext (B, nb, 6): external forces on the bodies: moment about the body's origin and force, world axes [N
           m, N]; None: zeros
    in   K_n (nc): normal stiffness [N/m]; >= 0; the same for all instances
    in   D_n (nc): normal damping [N s/m]; >= 0; the same for all instances
    in   K_t (nc): tangential stiffness [N/m]; >= 0; the same for all instances
    in   D_t (nc): tangential damping [N s/m]; >= 0; the same for all instances
    in   rolling (nc): resistance to the motion of the contact point by normal force [s/m]; >= 0; the same for all
           instances
    out  f_ext (B, nb, 6): external forces on the bodies: moment about the body's origin and force, world axes [N
           m, N]
    out  contact_force (B, nc, 3): force of each contact: normal, two tangents [N]
    out  deformation_rate (B, nc, 3): its rate [m/s]
    For robots with contacts.
    Cost O(n) on a chain of n joints."""

def fd_second_derivatives(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    f_ext: ArrayLike,
    q_direction: ArrayLike,
    v_direction: ArrayLike,
    tau_direction: ArrayLike,
    *,
    ignore: Names = (),
    check: bool = True,
) -> tuple[Array, Array, Array]:
    """Derivatives of da/dq, da/dv, da/dtau of fd_derivatives along a direction of (q, v, tau), nv x nv by rows.

        (da_dx)' = -M^-1 ((dtau_dx)' + M' da_dx)          Garofalo et al. (24)

    in   q (B, nq): positions of the joints [rad | m]; quaternions of length 1
    in   v (B, nv): velocities of the joints [rad/s | m/s]
    in   tau (B, nv): forces at the joints [N m | N]
    in   f_ext (B, nb, 6): external forces on the bodies: moment about the body's origin and force, world axes [N
           m, N]; None: zeros
    in   q_direction (B, nv): direction in q, on the tangent space [rad | m]
    in   v_direction (B, nv): direction in v [rad/s | m/s]
    in   tau_direction (B, nv): direction in tau [N m | N]
    out  by_q (B, nv, nv): derivative, along the direction, of that by q
    out  by_v (B, nv, nv): derivative, along the direction, of that by v
    out  by_tau (B, nv, nv): derivative, along the direction, of M^-1
    Cost O(n^3) on a chain of n joints."""

def fd_parameter_derivatives(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    f_ext: ArrayLike | None = None,
    *,
    ignore: Names = (),
    check: bool = True,
) -> tuple[Array, Array]:
    """Forward dynamics and its derivatives by the inertial parameters of all bodies (order of regressor), nv x 10 nb.

        da_dpi = -M^-1 Y(q, v, a)          Garofalo et al. (13), (16)

    in   q (B, nq): positions of the joints [rad | m]; quaternions of length 1
    in   v (B, nv): velocities of the joints [rad/s | m/s]
    in   tau (B, nv): forces at the joints [N m | N]
    in   f_ext (B, nb, 6): external forces on the bodies: moment about the body's origin and force, world axes [N
           m, N]; None: zeros
    out  a (B, nv): accelerations of the joints [rad/s^2 | m/s^2]
    out  da_dpi (B, nv, 10 nb): d a by the parameters of all bodies, order of regressor
    Cost O(n^3) on a chain of n joints."""

def hybrid_derivatives(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    tau: ArrayLike,
    f_ext: ArrayLike | None = None,
    *,
    prescribed: Numbers,
    ignore: Names = (),
    check: bool = True,
) -> tuple[Array, Array, Array, Array, Array]:
    """hybrid_dynamics and derivatives of its results y (tau where a is prescribed, else a) by q, v and what is given, nv x nv by rows.

        H11 da1 = dtau1 - dID1 - H12 da2,  dtau2 = dID2 + H21 da1 + H22 da2          Kim section 4; Carpentier and Mansard 2018

    in   q (B, nq): positions of the joints [rad | m]; quaternions of length 1
    in   v (B, nv): velocities of the joints [rad/s | m/s]
    in   a (B, nv): accelerations of the joints [rad/s^2 | m/s^2]
    in   tau (B, nv): forces at the joints [N m | N]
    in   f_ext (B, nb, 6): external forces on the bodies: moment about the body's origin and force, world axes [N
           m, N]; None: zeros
    in   prescribed (nv): 1 for coordinates with given a, else 0; 0 or 1; the same for all instances
    out  a (B, nv): accelerations of the joints [rad/s^2 | m/s^2]
    out  tau (B, nv): forces at the joints [N m | N]
    out  y_q (B, nv, nv): derivative of the results by q
    out  y_v (B, nv, nv): derivative of the results by v
    out  y_x (B, nv, nv): derivative of the results by what is given
    Cost O(n^3) on a chain of n joints."""

def inverse_inertia_rate(
    model: Model,
    q: ArrayLike,
    q_direction: ArrayLike,
    *,
    ignore: Names = (),
    check: bool = True,
) -> tuple[Array, Array]:
    """M^-1 and its derivative along a direction of q, nv x nv; unit vectors give the slices of dM^-1/dq.

        (M^-1)' = -M^-1 M' M^-1          Garofalo et al. (24a)

    in   q (B, nq): positions of the joints [rad | m]; quaternions of length 1
    in   q_direction (B, nv): direction in q, on the tangent space [rad | m]
    out  M_inverse (B, nv, nv): M^-1 [1/(kg m^2)]
    out  M_inverse_rate (B, nv, nv): derivative of M^-1 along the direction
    Cost O(n^3) on a chain of n joints."""

def coriolis_matrix_rate_body_fixed(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    q_direction: ArrayLike,
    v_direction: ArrayLike,
    *,
    ignore: Names = (),
    check: bool = True,
) -> Array:
    """Derivative of coriolis_matrix_body_fixed along a direction of (q, v).

        d/de C(q (+) e u, v + e w)          Garofalo et al. (25b)

    in   q (B, nq): positions of the joints [rad | m]; quaternions of length 1
    in   v (B, nv): velocities of the joints [rad/s | m/s]
    in   q_direction (B, nv): direction in q, on the tangent space [rad | m]
    in   v_direction (B, nv): direction in v [rad/s | m/s]
    out  C_rate (B, nv, nv): derivative of the Coriolis matrix along the direction
    Cost O(n^2) on a chain of n joints."""

def coriolis_matrix_rate_mass_centre(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    q_direction: ArrayLike,
    v_direction: ArrayLike,
    *,
    ignore: Names = (),
    check: bool = True,
) -> Array:
    """Derivative of coriolis_matrix_mass_centre along a direction of (q, v).

        d/de C(q (+) e u, v + e w)          Liu and Jain (46)

    in   q (B, nq): positions of the joints [rad | m]; quaternions of length 1
    in   v (B, nv): velocities of the joints [rad/s | m/s]
    in   q_direction (B, nv): direction in q, on the tangent space [rad | m]
    in   v_direction (B, nv): direction in v [rad/s | m/s]
    out  C_rate (B, nv, nv): derivative of the Coriolis matrix along the direction
    Cost O(n^2) on a chain of n joints."""

def crba_second_rate(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    *,
    ignore: Names = (),
    check: bool = True,
) -> Array:
    """d^2M/dt^2 along a motion, packed.

        d^2M/dt^2          Garofalo et al. section V

    in   q (B, nq): positions of the joints [rad | m]; quaternions of length 1
    in   v (B, nv): velocities of the joints [rad/s | m/s]
    in   a (B, nv): accelerations of the joints [rad/s^2 | m/s^2]
    out  M_second_rate (B, nh): d^2M/dt^2, packed [kg m^2/s^2]
    Cost O(n^2) on a chain of n joints."""

def gravity_torques_second_rate(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    *,
    ignore: Names = (),
    check: bool = True,
) -> Array:
    """Second rate of the gravity torques along a motion.

        d^2g/dt^2          Garofalo et al. section V

    in   q (B, nq): positions of the joints [rad | m]; quaternions of length 1
    in   v (B, nv): velocities of the joints [rad/s | m/s]
    in   a (B, nv): accelerations of the joints [rad/s^2 | m/s^2]
    out  tau_second_rate (B, nv): second rate of the joint forces [N m/s^2 | N/s^2]
    Cost O(n) on a chain of n joints."""

def coriolis_matrix_second_rate(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    jerk: ArrayLike,
    *,
    ignore: Names = (),
    check: bool = True,
) -> Array:
    """Second rate of coriolis_matrix along a motion, nv x nv; jerk is da/dt.

        d^2C/dt^2          Garofalo et al. section V

    in   q (B, nq): positions of the joints [rad | m]; quaternions of length 1
    in   v (B, nv): velocities of the joints [rad/s | m/s]
    in   a (B, nv): accelerations of the joints [rad/s^2 | m/s^2]
    in   jerk (B, nv): da/dt [rad/s^3 | m/s^3]
    out  C_second_rate (B, nv, nv): d^2C/dt^2 [kg m^2/s^3]
    Cost O(n^2) on a chain of n joints."""

def rnea_rate(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    jerk: ArrayLike,
    *,
    ignore: Names = (),
    check: bool = True,
) -> tuple[Array, Array]:
    """Inverse dynamics and its rate along a motion; jerk is da/dt.

        d tau/dt = M jerk + (dM/dt + C) a + dC/dt v + dg/dt          Garofalo et al. section V

    in   q (B, nq): positions of the joints [rad | m]; quaternions of length 1
    in   v (B, nv): velocities of the joints [rad/s | m/s]
    in   a (B, nv): accelerations of the joints [rad/s^2 | m/s^2]
    in   jerk (B, nv): da/dt [rad/s^3 | m/s^3]
    out  tau (B, nv): forces at the joints [N m | N]
    out  tau_rate (B, nv): rate of the joint forces [N m/s | N/s]
    Cost O(n) on a chain of n joints."""

def rnea_second_rate(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    jerk: ArrayLike,
    snap: ArrayLike,
    *,
    ignore: Names = (),
    check: bool = True,
) -> tuple[Array, Array, Array]:
    """Inverse dynamics with two rates along a motion; snap is d^2a/dt^2.

        tau, d tau/dt, d^2 tau/dt^2          Garofalo et al. section V

    in   q (B, nq): positions of the joints [rad | m]; quaternions of length 1
    in   v (B, nv): velocities of the joints [rad/s | m/s]
    in   a (B, nv): accelerations of the joints [rad/s^2 | m/s^2]
    in   jerk (B, nv): da/dt [rad/s^3 | m/s^3]
    in   snap (B, nv): d^2a/dt^2 [rad/s^4 | m/s^4]
    out  tau (B, nv): forces at the joints [N m | N]
    out  tau_rate (B, nv): rate of the joint forces [N m/s | N/s]
    out  tau_second_rate (B, nv): second rate of the joint forces [N m/s^2 | N/s^2]
    Cost O(n) on a chain of n joints."""

def elastic_feedforward(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    jerk: ArrayLike,
    snap: ArrayLike,
    *,
    stiffness: Numbers,
    motor_inertia: Numbers,
    ignore: Names = (),
    check: bool = True,
) -> tuple[Array, Array, Array]:
    """Elastic joints: deflection, velocity and torque of motors that give the links a motion.

        tau = K (theta - q),  B theta'' + tau = motor_tau          Garofalo et al. section I

    in   q (B, nq): positions of the joints [rad | m]; quaternions of length 1
    in   v (B, nv): velocities of the joints [rad/s | m/s]
    in   a (B, nv): accelerations of the joints [rad/s^2 | m/s^2]
    in   jerk (B, nv): da/dt [rad/s^3 | m/s^3]
    in   snap (B, nv): d^2a/dt^2 [rad/s^4 | m/s^4]
    in   stiffness (nv): of the springs between motors and links [N m/rad]; >= 0; the same for all instances
    in   motor_inertia (nv): of the rotors before the springs, seen at the joint; not 0 [kg m^2]; >= 0; the same
           for all instances
    out  deflection (B, nv): motor position less link position [rad]
    out  motor_velocity (B, nv): of the motors, seen at the joint [rad/s]
    out  motor_tau (B, nv): of the motors, seen at the joint [N m]
    Cost O(n) on a chain of n joints."""

def id_mass_centres(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    f_ext: ArrayLike | None = None,
    *,
    ignore: Names = (),
    check: bool = True,
) -> Array:
    """Inverse dynamics in 3-vectors at the mass centres; the map of rnea.

        tau = M(q) a + C(q, v) - sum J_i^T f_ext_i          Liu and Jain (72)-(84)

    in   q (B, nq): positions of the joints [rad | m]; quaternions of length 1
    in   v (B, nv): velocities of the joints [rad/s | m/s]
    in   a (B, nv): accelerations of the joints [rad/s^2 | m/s^2]
    in   f_ext (B, nb, 6): external forces on the bodies: moment about the body's origin and force, world axes [N
           m, N]; None: zeros
    out  tau (B, nv): forces at the joints [N m | N]
    Cost O(n) on a chain of n joints."""

def rnea_moving_base(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    v_base: ArrayLike,
    a_base: ArrayLike,
    gravity_base: ArrayLike,
    *,
    ignore: Names = (),
    check: bool = True,
) -> tuple[Array, Array]:
    """Inverse dynamics on a base that moves: its velocity, rates of those components, gravity, and the force it bears, all in base axes, angular first.

        a_0 = a_base - gravity, then rnea; f_base = sum of forces on the base          Lynch and Park (9.49)-(9.57)

    in   q (B, nq): positions of the joints [rad | m]; quaternions of length 1
    in   v (B, nv): velocities of the joints [rad/s | m/s]
    in   a (B, nv): accelerations of the joints [rad/s^2 | m/s^2]
    in   v_base (B, 6): velocity of the base, base axes [rad/s, m/s]
    in   a_base (B, 6): rates of the components of v_base [rad/s^2, m/s^2]
    in   gravity_base (B, 3): gravity, base axes [m/s^2]
    out  tau (B, nv): forces at the joints [N m | N]
    out  f_base (B, 6): force that the base bears, base axes [N m, N]
    Cost O(n) on a chain of n joints."""

def maximal_velocity(model: Model, q: ArrayLike, v: ArrayLike, *, ignore: Names = (), check: bool = True) -> Array:
    """Angular velocity of each body and velocity of its mass centre, world axes, 6 nb.

        V = J v          Liu and Jain (60)

    in   q (B, nq): positions of the joints [rad | m]; quaternions of length 1
    in   v (B, nv): velocities of the joints [rad/s | m/s]
    out  velocities (B, nb, 6): angular velocity of each body and velocity of its mass centre, world axes [rad/s,
           m/s]
    Cost O(n) on a chain of n joints."""

def generalised_velocity(
    model: Model,
    q: ArrayLike,
    velocities: ArrayLike,
    *,
    ignore: Names = (),
    check: bool = True,
) -> tuple[Array, Array]:
    """v that comes nearest to velocities as of maximal_velocity, by sums of squares, and these less those of v.

        v = (J^T J)^-1 J^T V          Liu and Jain (61)

    in   q (B, nq): positions of the joints [rad | m]; quaternions of length 1
    in   velocities (B, nb, 6): angular velocity of each body and velocity of its mass centre, world axes [rad/s,
           m/s]
    out  v (B, nv): velocities of the joints [rad/s | m/s]
    out  residual (B, nb, 6): what the joints do not admit of the velocities [rad/s, m/s]
    Cost O(n^3) on a chain of n joints."""

def generalised_velocity_inertia(
    model: Model,
    q: ArrayLike,
    velocities: ArrayLike,
    *,
    ignore: Names = (),
    check: bool = True,
) -> tuple[Array, Array]:
    """generalised_velocity in the metric of the bodies' inertia: the v with the generalised momentum of all bodies.

        v = (J^T W J)^-1 J^T W V          Liu and Jain (61)

    in   q (B, nq): positions of the joints [rad | m]; quaternions of length 1
    in   velocities (B, nb, 6): angular velocity of each body and velocity of its mass centre, world axes [rad/s,
           m/s]
    out  v (B, nv): velocities of the joints [rad/s | m/s]
    out  residual (B, nb, 6): what the joints do not admit of the velocities [rad/s, m/s]
    Cost O(n^3) on a chain of n joints."""

def generalised_force(
    model: Model,
    q: ArrayLike,
    forces: ArrayLike,
    *,
    ignore: Names = (),
    check: bool = True,
) -> Array:
    """Tau = J^T F of a moment about each body's mass centre and a force, world axes.

        tau = J^T F          Liu and Jain (67)

    in   q (B, nq): positions of the joints [rad | m]; quaternions of length 1
    in   forces (B, nb, 6): moment about each body's mass centre and force, world axes [N m, N]
    out  tau (B, nv): forces at the joints [N m | N]
    Cost O(n) on a chain of n joints."""

def maximal_force(model: Model, q: ArrayLike, tau: ArrayLike, *, ignore: Names = (), check: bool = True) -> Array:
    """The shortest forces whose generalised_force is tau, by sums of squares.

        F = J (J^T J)^-1 tau          Liu and Jain (70)

    in   q (B, nq): positions of the joints [rad | m]; quaternions of length 1
    in   tau (B, nv): forces at the joints [N m | N]
    out  forces (B, nb, 6): moment about each body's mass centre and force, world axes [N m, N]
    Cost O(n^3) on a chain of n joints."""

def maximal_force_inertia(
    model: Model,
    q: ArrayLike,
    tau: ArrayLike,
    *,
    ignore: Names = (),
    check: bool = True,
) -> Array:
    """Forces whose generalised_force is tau, in the metric of the inertia: M_bodies J M^-1 tau, rotors apart.

        F = W J (J^T W J)^-1 tau          Liu and Jain (70)

    in   q (B, nq): positions of the joints [rad | m]; quaternions of length 1
    in   tau (B, nv): forces at the joints [N m | N]
    out  forces (B, nb, 6): moment about each body's mass centre and force, world axes [N m, N]
    Cost O(n^3) on a chain of n joints."""

def force_at_mass_centres(
    model: Model,
    q: ArrayLike,
    points: ArrayLike,
    forces_at_points: ArrayLike,
    *,
    ignore: Names = (),
    check: bool = True,
) -> Array:
    """Forces as generalised_force takes them from a couple and a force at a point of each body (3 nb, world).

        n = couple + (point - c) x force          Liu and Jain section 6

    in   q (B, nq): positions of the joints [rad | m]; quaternions of length 1
    in   points (B, nb, 3): a point of each body, in the world [m]
    in   forces_at_points (B, nb, 6): couple and force at the points, world axes [N m, N]
    out  forces (B, nb, 6): moment about each body's mass centre and force, world axes [N m, N]
    Cost O(n) on a chain of n joints."""

def joint_velocities(
    model: Model,
    q: ArrayLike,
    velocities: ArrayLike,
    *,
    ignore: Names = (),
    check: bool = True,
) -> tuple[Array, Array]:
    """v from the velocities of neighbouring bodies, joint by joint, and what the joints do not admit.

        v = (S^T S)^-1 S^T (v_i - X v_parent)          Liu and Jain (62)-(66)

    in   q (B, nq): positions of the joints [rad | m]; quaternions of length 1
    in   velocities (B, nb, 6): angular velocity of each body and velocity of its mass centre, world axes [rad/s,
           m/s]
    out  v (B, nv): velocities of the joints [rad/s | m/s]
    out  residual (B, nb, 6): what the joints do not admit of the velocities [rad/s, m/s]
    Cost O(n) on a chain of n joints."""

def forces_of_joints(
    model: Model,
    q: ArrayLike,
    wrench: ArrayLike,
    *,
    ignore: Names = (),
    check: bool = True,
) -> tuple[Array, Array]:
    """Forces on each body and tau from wrenches that joints exert, world axes about the body's origin.

        F_i = W_i - sum over children W_j,  tau = S^T W          Liu and Jain (68), (69)

    in   q (B, nq): positions of the joints [rad | m]; quaternions of length 1
    in   wrench (B, nb, 6): wrench of each joint on its child link: moment about the link's origin, force; world
           axes [N m, N]
    out  forces (B, nb, 6): moment about each body's mass centre and force, world axes [N m, N]
    out  tau (B, nv): forces at the joints [N m | N]
    Cost O(n) on a chain of n joints."""

def joint_wrenches_of(model: Model, q: ArrayLike, tau: ArrayLike, *, ignore: Names = (), check: bool = True) -> Array:
    """The shortest wrench of each joint that has tau; the inverse of forces_of_joints.

        W = S (S^T S)^-1 tau          Liu and Jain (71)

    in   q (B, nq): positions of the joints [rad | m]; quaternions of length 1
    in   tau (B, nv): forces at the joints [N m | N]
    out  wrench (B, nb, 6): wrench of each joint on its child link: moment about the link's origin, force; world
           axes [N m, N]
    Cost O(n) on a chain of n joints."""

def operational_inertia_column(
    model: Model,
    q: ArrayLike,
    *,
    frame: Frame,
    ignore: Names = (),
    check: bool = True,
) -> Array:
    """J_f M^-1 J^T for every named frame f (6 x 6 each) and one frame; its calls give that of any set of frames.

        Phi_f = J_f M^-1 J^T          RBDA (7.4), section 7.1

    in   q (B, nq): positions of the joints [rad | m]; quaternions of length 1
    out  Phi (B, nf, 6, 6): J_f M^-1 J^T of every named frame f, world axes, angular first [1/(kg m^2), 1/kg]
    in   frame: by name or number
    Cost O(n) on a chain of n joints."""

def rnea_timed(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    f_ext: ArrayLike,
    t: ArrayLike,
    *,
    ignore: Names = (),
    check: bool = True,
) -> Array:
    """Rnea of robots with time-dependent joints, at time t.

        tau = M a + C(q, v, t)          RBDA section 3.4

    in   q (B, nq): positions of the joints [rad | m]; quaternions of length 1
    in   v (B, nv): velocities of the joints [rad/s | m/s]
    in   a (B, nv): accelerations of the joints [rad/s^2 | m/s^2]
    in   f_ext (B, nb, 6): external forces on the bodies: moment about the body's origin and force, world axes [N
           m, N]; None: zeros
    in   t (B, 1): time [s]
    out  tau (B, nv): forces at the joints [N m | N]
    Cost O(n) on a chain of n joints."""

def fd_timed(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    f_ext: ArrayLike,
    t: ArrayLike,
    *,
    ignore: Names = (),
    check: bool = True,
) -> Array:
    """Aba of robots with time-dependent joints, at time t.

        a = M^-1 (tau - C(q, v, t))          RBDA section 3.4

    in   q (B, nq): positions of the joints [rad | m]; quaternions of length 1
    in   v (B, nv): velocities of the joints [rad/s | m/s]
    in   tau (B, nv): forces at the joints [N m | N]
    in   f_ext (B, nb, 6): external forces on the bodies: moment about the body's origin and force, world axes [N
           m, N]; None: zeros
    in   t (B, 1): time [s]
    out  a (B, nv): accelerations of the joints [rad/s^2 | m/s^2]
    Cost O(n) on a chain of n joints."""

def forward_kinematics_timed(
    model: Model,
    q: ArrayLike,
    t: ArrayLike,
    *,
    ignore: Names = (),
    check: bool = True,
) -> Array:
    """forward_kinematics of robots with time-dependent joints, at time t.

        X_i = X_parent X_J(q_i, t) X_T          RBDA section 3.4

    in   q (B, nq): positions of the joints [rad | m]; quaternions of length 1
    in   t (B, 1): time [s]
    out  pose (B, nf, 12): position and rotation, by rows, of every named frame in the world [m, 1]
    Cost O(n) on a chain of n joints."""

def rnea_timed_derivatives(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    f_ext: ArrayLike,
    t: ArrayLike,
    *,
    ignore: Names = (),
    check: bool = True,
) -> tuple[Array, Array, Array]:
    """Derivatives of rnea_timed on the tangent space at fixed time, nv x nv by rows, and by time.

        d tau = dtau_dq dq + dtau_dv dv + M da + dtau_dt dt          RBDA section 3.4

    in   q (B, nq): positions of the joints [rad | m]; quaternions of length 1
    in   v (B, nv): velocities of the joints [rad/s | m/s]
    in   a (B, nv): accelerations of the joints [rad/s^2 | m/s^2]
    in   f_ext (B, nb, 6): external forces on the bodies: moment about the body's origin and force, world axes [N
           m, N]; None: zeros
    in   t (B, 1): time [s]
    out  dtau_dq (B, nv, nv): d tau / d q on the tangent space [N m/rad]
    out  dtau_dv (B, nv, nv): d tau / d v [N m s/rad]
    out  dtau_dt (B, nv): d tau / d t [N m/s]
    Cost O(n^2) on a chain of n joints."""

def fd_timed_derivatives(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    f_ext: ArrayLike,
    t: ArrayLike,
    *,
    ignore: Names = (),
    check: bool = True,
) -> tuple[Array, Array, Array, Array, Array]:
    """fd_timed and its derivatives on the tangent space at fixed time, nv x nv by rows, and by time.

        da_dx = -M^-1 dtau_dx          RBDA section 3.4

    in   q (B, nq): positions of the joints [rad | m]; quaternions of length 1
    in   v (B, nv): velocities of the joints [rad/s | m/s]
    in   tau (B, nv): forces at the joints [N m | N]
    in   f_ext (B, nb, 6): external forces on the bodies: moment about the body's origin and force, world axes [N
           m, N]; None: zeros
    in   t (B, 1): time [s]
    out  a (B, nv): accelerations of the joints [rad/s^2 | m/s^2]
    out  da_dq (B, nv, nv): d a / d q on the tangent space [1/s^2]
    out  da_dv (B, nv, nv): d a / d v [1/s]
    out  da_dtau (B, nv, nv): d a / d tau = M^-1 [1/(kg m^2)]
    out  da_dt (B, nv): d a / d t [rad/s^3]
    Cost O(n^3) on a chain of n joints."""

def rk4_step_timed(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    t: ArrayLike,
    tau: ArrayLike,
    target: ArrayLike,
    *,
    dt: Numbers,
    kp: Numbers,
    kd: Numbers,
    limit_stiffness: Numbers,
    limit_damping: Numbers,
    friction_velocity: Numbers,
    ignore: Names = (),
    check: bool = True,
) -> tuple[Array, Array, Array]:
    """rk4_step of robots with time-dependent joints, from time t on.

        rk4_step from time t on          RBDA section 3.4; Munthe-Kaas 1998

    in   q (B, nq): positions of the joints [rad | m]; quaternions of length 1
    in   v (B, nv): velocities of the joints [rad/s | m/s]
    in   t (B, 1): time [s]
    in   tau (B, nv): forces at the joints [N m | N]
    in   target (B, nv): positions that the drives aim at [rad | m]
    in   dt: time [s]; >= 0; the same for all instances
    in   kp (nv): stiffness of the drives [N m/rad | N/m]; >= 0; the same for all instances
    in   kd (nv): damping of the drives, implicit [N m s/rad | N s/m]; >= 0; the same for all instances
    in   limit_stiffness: stiffness of the stops [N m/rad | N/m]; >= 0; the same for all instances
    in   limit_damping: damping of the stops [N m s/rad | N s/m]; >= 0; the same for all instances
    in   friction_velocity: velocity at which dry friction has 71 % of its force, not 0 [rad/s | m/s]; >= 0; the
           same for all instances
    out  q_next (B, nq): positions at the end [rad | m]
    out  v_next (B, nv): velocities at the end [rad/s | m/s]
    out  t_next (B, 1): time at the end [s]
    Cost O(n^3) on a chain of n joints."""

def tendons(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    *,
    ignore: Names = (),
    check: bool = True,
) -> tuple[Array, Array, Array]:
    """Lengths of the tendons, their rates and gradients.

        ten_velocity = ten_J v          MuJoCo, Computation: tendons; core/actuation/tendon_kinematics.h

    in   q (B, nq): positions of the joints [rad | m]; quaternions of length 1
    in   v (B, nv): velocities of the joints [rad/s | m/s]
    out  ten_length (B, n_tendons): lengths [m]
    out  ten_velocity (B, n_tendons): rates of the lengths [m/s]
    out  ten_J (B, n_tendons, nv): gradients of the lengths along v [1 | m]
    For robots with a model file's world.
    Cost O(n) on a chain of n joints."""

def actuators(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    act: ArrayLike,
    ctrl: ArrayLike,
    *,
    ignore: Names = (),
    check: bool = True,
) -> tuple[Array, Array, Array, Array, Array]:
    """Lengths and forces of the actuators, rates of their activations, and their forces at the joints.

        qfrc_actuator = moment^T actuator_force          MuJoCo, Computation: actuation model; core/actuation/actuator_forces.h

    in   q (B, nq): positions of the joints [rad | m]; quaternions of length 1
    in   v (B, nv): velocities of the joints [rad/s | m/s]
    in   act (B, n_act): activations of the actuators
    in   ctrl (B, n_ctrl): controls of the actuators
    out  actuator_length (B, n_out): lengths [m | rad]
    out  actuator_velocity (B, n_out): rates of the lengths [m/s | rad/s]
    out  act_dot (B, n_act): rates of the activations [1/s]
    out  actuator_force (B, n_out): forces along the lengths [N | N m]
    out  qfrc_actuator (B, nv): forces at the joints [N m | N]
    For robots with a model file's world.
    Cost O(n) on a chain of n joints."""

def passive_forces(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    *,
    ignore: Names = (),
    check: bool = True,
) -> tuple[Array, Array, Array, Array]:
    """Forces at the joints by springs, dampers, gravity compensation and the medium.

        qfrc_passive = their sum, without the gravity compensation that counts as actuators'          MuJoCo, Computation: passive forces; core/passive

    in   q (B, nq): positions of the joints [rad | m]; quaternions of length 1
    in   v (B, nv): velocities of the joints [rad/s | m/s]
    out  qfrc_spring (B, nv): of springs of joints and tendons [N m | N]
    out  qfrc_damper (B, nv): of dampers of joints and tendons [N m | N]
    out  qfrc_gravcomp (B, nv): of gravity compensation [N m | N]
    out  qfrc_fluid (B, nv): of the medium [N m | N]
    For robots with a model file's world.
    Cost O(n) on a chain of n joints."""

def mass_and_bias(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    *,
    ignore: Names = (),
    check: bool = True,
) -> tuple[Array, Array]:
    """joint-space inertia matrix and bias force with the armature of tendons.

        M = crba + J^T A J, C = bias + J^T A (dJ/dt v), A of tendons; entries of M that the tree has          MuJoCo, XML reference: tendon/spatial/armature; core/passive/tendon_inertia.h

    in   q (B, nq): positions of the joints [rad | m]; quaternions of length 1
    in   v (B, nv): velocities of the joints [rad/s | m/s]
    out  M (B, nh): packed, of the branch-sparse lower triangle [kg m^2 | kg m | kg]
    out  qfrc_bias (B, nv): bias force [N m | N]
    For robots with a model file's world.
    Cost O(n) on a chain of n joints."""

def smooth_acceleration(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    act: ArrayLike,
    ctrl: ArrayLike,
    qfrc_applied: ArrayLike | None = None,
    xfrc_applied: ArrayLike | None = None,
    *,
    ignore: Names = (),
    check: bool = True,
) -> tuple[Array, Array]:
    """Accelerations under actuators, passive and applied forces, without constraints; rates of activations.

        M qacc_smooth = qfrc_passive + qfrc_actuator + qfrc_applied + J^T xfrc_applied - C          MuJoCo, Computation: forward dynamics; core/mujoco/smooth.h

    in   q (B, nq): positions of the joints [rad | m]; quaternions of length 1
    in   v (B, nv): velocities of the joints [rad/s | m/s]
    in   act (B, n_act): activations of the actuators
    in   ctrl (B, n_ctrl): controls of the actuators
    in   qfrc_applied (B, nv): further forces at the joints [N m | N]; None: zeros
    in   xfrc_applied (B, n_links, 6): force and moment on each of the file's bodies at its centre of mass, world
           axes [N, N m]; None: zeros
    out  qacc_smooth (B, nv): accelerations [rad/s^2 | m/s^2]
    out  act_dot (B, n_act): rates of the activations [1/s]
    For robots with a model file's world.
    Cost O(n) on a chain of n joints."""

def smooth_step(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    act: ArrayLike,
    ctrl: ArrayLike,
    qfrc_applied: ArrayLike | None = None,
    xfrc_applied: ArrayLike | None = None,
    *,
    ignore: Names = (),
    check: bool = True,
) -> tuple[Array, Array, Array]:
    """Steps of the file's timestep by its integrator, without constraints.

        Euler: (M + h D) a = qfrc_smooth, v_next = v + h a, q_next = q (+) h v_next; implicit, implicitfast, RK4          MuJoCo, Computation: numerical integration; core/mujoco/step.h

    in   q (B, nq): positions of the joints [rad | m]; quaternions of length 1
    in   v (B, nv): velocities of the joints [rad/s | m/s]
    in   act (B, n_act): activations of the actuators
    in   ctrl (B, n_ctrl): controls of the actuators
    in   qfrc_applied (B, nv): further forces at the joints [N m | N]; None: zeros
    in   xfrc_applied (B, n_links, 6): force and moment on each of the file's bodies at its centre of mass, world
           axes [N, N m]; None: zeros
    out  q_next (B, nq): positions at the end [rad | m]
    out  v_next (B, nv): velocities at the end [rad/s | m/s]
    out  act_next (B, n_act): activations at the end
    For robots with a model file's world.
    Cost O(n) on a chain of n joints."""

def sensors(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    act: ArrayLike,
    ctrl: ArrayLike,
    t: ArrayLike,
    xfrc_applied: ArrayLike | None = None,
    row_force: ArrayLike | None = None,
    contact_link: ArrayLike | None = None,
    contact_sensor: ArrayLike | None = None,
    *,
    ignore: Names = (),
    check: bool = True,
) -> Array:
    """Readings of the file's sensors at given accelerations and forces of constraints, without noise.

        accelerations and forces with gravity: at rest -g and weights          MuJoCo, Computation: sensors; core/sensor/sensors.h

    in   q (B, nq): positions of the joints [rad | m]; quaternions of length 1
    in   v (B, nv): velocities of the joints [rad/s | m/s]
    in   a (B, nv): accelerations of the joints [rad/s^2 | m/s^2]
    in   act (B, n_act): activations of the actuators
    in   ctrl (B, n_ctrl): controls of the actuators
    in   t (B, 1): time [s]
    in   xfrc_applied (B, n_links, 6): force and moment on each of the file's bodies at its centre of mass, world
           axes [N, N m]; None: zeros
    in   row_force (B, n_rows): forces of the constraint rows [N | N m]; None: zeros
    in   contact_link (B, n_links, 9): force and moment of contacts on each of the file's bodies, and the moment's
           point, world axes [N, N m, m]; None: zeros
    in   contact_sensor (B, n_touched): numbers of touch and contact sensors, without cutoff; None: zeros
    out  sensordata (B, n_sensed): the numbers of all sensors; those of range finders are zero
    For robots with a model file's world.
    Cost O(n) on a chain of n joints."""

def constraint_wrenches(
    model: Model,
    q: ArrayLike,
    row_force: ArrayLike,
    contact_link: ArrayLike,
    *,
    ignore: Names = (),
    check: bool = True,
) -> Array:
    """Forces and moments of contacts, connects and welds on each of the file's bodies.

        force, then moment about the body's centre of mass, world axes: the constraints' part of cfrc_ext          MuJoCo, mj_rnePostConstraint; core/sensor/constraint_wrenches.h

    in   q (B, nq): positions of the joints [rad | m]; quaternions of length 1
    in   row_force (B, n_rows): forces of the constraint rows [N | N m]
    in   contact_link (B, n_links, 9): force and moment of contacts on each of the file's bodies, and the moment's
           point, world axes [N, N m, m]
    out  wrench (B, n_links, 6): on each body; zeros for the world [N, N m]
    For robots with a model file's world.
    Cost O(n) on a chain of n joints."""

def contacts(model: Model, q: ArrayLike, *, ignore: Names = (), check: bool = True) -> tuple[Array, Array, Array]:
    """Where the file's geoms touch: the slots of all pairs of geoms, in the order of `contact_pairs`.

        dist <= margin + gap in a slot with a contact; else dist = 1e10, pos and frame are zero          MuJoCo, Computation: collision detection; core/collision/candidates.h

    in   q (B, nq): positions of the joints [rad | m]; quaternions of length 1
    out  dist (B, n_slots): distance between the surfaces, negative where they penetrate [m]
    out  pos (B, n_slots, 3): point in the middle between the surfaces, world axes [m]
    out  frame (B, n_slots, 9): by rows the normal, from the first geom to the second, and two tangents
    For robots with a model file's world.
    Cost O(n) on a chain of n joints."""

def delayed_controls(
    model: Model,
    history: ArrayLike,
    ctrl: ArrayLike,
    clock: ArrayLike,
    slack: ArrayLike,
    *,
    ignore: Names = (),
    check: bool = True,
) -> Array:
    """The controls that actuators act on: old ones of the histories where they are delayed.

        ctrl(clock - delay), interpolated between the samples of the history          MuJoCo, XML reference: actuator, delay; core/actuation/histories.h

    in   history (B, n_history): histories of controls and sensors, as MuJoCo has them
    in   ctrl (B, n_ctrl): controls of the actuators
    in   clock (B, 1): time [s]
    in   slack (B, 1): times that are closer are the same [s]; >= 0
    out  delayed (B, n_ctrl): controls
    For robots with a model file's world.
    Cost O(n) on a chain of n joints."""

def delayed_sensors(
    model: Model,
    history: ArrayLike,
    sensordata: ArrayLike,
    clock: ArrayLike,
    slack: ArrayLike,
    *,
    ignore: Names = (),
    check: bool = True,
) -> Array:
    """Numbers that sensors report: old ones of the histories where they are delayed or have an interval.

        sensordata(clock - delay), interpolated between the samples of the history          MuJoCo, XML reference: sensor, delay; core/actuation/histories.h

    in   history (B, n_history): histories of controls and sensors, as MuJoCo has them
    in   sensordata (B, n_sensed): what the sensors measure
    in   clock (B, 1): time [s]
    in   slack (B, 1): times that are closer are the same [s]; >= 0
    out  reported (B, n_sensed): the reported numbers
    For robots with a model file's world.
    Cost O(n) on a chain of n joints."""

def advanced_histories(
    model: Model,
    history: ArrayLike,
    ctrl: ArrayLike,
    sensordata: ArrayLike,
    clock: ArrayLike,
    slack: ArrayLike,
    *,
    ignore: Names = (),
    check: bool = True,
) -> Array:
    """The histories of controls and sensors after a step that began at `clock`.

        each with a sample at `clock` in place of its oldest          MuJoCo, XML reference: actuator and sensor, nsample; core/actuation/histories.h

    in   history (B, n_history): histories of controls and sensors, as MuJoCo has them
    in   ctrl (B, n_ctrl): controls of the actuators
    in   sensordata (B, n_sensed): what the sensors measured
    in   clock (B, 1): time [s]
    in   slack (B, 1): times that are closer are the same [s]; >= 0
    out  history_next (B, n_history): histories
    For robots with a model file's world.
    Cost O(n) on a chain of n joints."""
