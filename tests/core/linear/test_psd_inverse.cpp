#include "core/linear/psd_inverse.h"

#include <gtest/gtest.h>

#include <Eigen/Dense>

#include "tests/support/robots/random_robot.h"

namespace featherstorm::test_psd_inverse {
namespace {

using namespace testing;
using Matrix = Eigen::Matrix<double, 6, 6>;

Matrix inverse_of(const Matrix& A, double damping, double tolerance) {
  double a[6][6];
  for (int i = 0; i < 6; i++)
    for (int j = 0; j < 6; j++) a[i][j] = A(i, j);
  psd_inverse(a, damping, tolerance);
  Matrix B;
  for (int i = 0; i < 6; i++)
    for (int j = 0; j < 6; j++) B(i, j) = a[i][j];
  return B;
}
// a random positive semidefinite matrix of this rank, its rows on scales from 1e-2 to 1e2
Matrix random_psd(Random& random, int rank) {
  Eigen::MatrixXd R(6, rank);
  for (int i = 0; i < 6; i++)
    for (int k = 0; k < rank; k++) R(i, k) = random.uniform(-1, 1) * std::pow(10.0, i - 2.5);
  return R * R.transpose();
}

TEST(PsdInverse, InvertsAtFullRankAndIsAGeneralisedInverseBelow) {
  Random random(1);
  for (int rank = 0; rank <= 6; rank++)
    for (int repeat = 0; repeat < 20; repeat++) {
      SCOPED_TRACE(rank);
      const Matrix A = random_psd(random, rank);
      const Matrix B = inverse_of(A, 0, 1e-10);
      // scaled to a unit diagonal
      const Eigen::VectorXd s = A.diagonal().cwiseMax(1e-30).cwiseSqrt();
      const Matrix An = s.cwiseInverse().asDiagonal() * A * s.cwiseInverse().asDiagonal();
      const Matrix Bn = s.asDiagonal() * B * s.asDiagonal();
      EXPECT_LT((An * Bn * An - An).norm(), 1e-6);
      EXPECT_LT((Bn * An * Bn - Bn).norm(), 1e-6 * (1 + Bn.norm()));
      EXPECT_LT((B - B.transpose()).norm(), 1e-9 * (1 + B.norm()));
      EXPECT_EQ((B.diagonal().array() != 0).count(), rank);
    }
}

TEST(PsdInverse, WithDampingInvertsTheDampedMatrixAtAnyRank) {
  Random random(2);
  for (int rank = 0; rank <= 6; rank++) {
    const Matrix A = random_psd(random, rank) * 1e-3;
    const Matrix B = inverse_of(A, 0.1, 0);
    EXPECT_LT((B * (A + 0.1 * Matrix::Identity()) - Matrix::Identity()).norm(), 1e-9);
  }
}

}  // namespace
}  // namespace featherstorm::test_psd_inverse
