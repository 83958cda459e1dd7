/*
 * Forward and backward transforms of 3-d arrays that are distributed over all
 * ranks. Input and output are apart: then FFTW may transpose by MPI_Alltoall and
 * MPI_Alltoallv. Prints whether the error of the round trip is that of rounding.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <fftw3-mpi.h>
#include <math.h>
#include <stdio.h>

static double value(ptrdiff_t index)
{
    return (double)(index * 7919 % 1009) / 1009 - 0.5;
}

static double round_trip(ptrdiff_t n0, ptrdiff_t n1, ptrdiff_t n2, unsigned flags)
{
    ptrdiff_t n_local, first, i, n_rest = n1 * n2, unused0, unused1;
    ptrdiff_t n_room = fftw_mpi_local_size_3d_transposed(n0, n1, n2, MPI_COMM_WORLD, &n_local,
                                                         &first, &unused0, &unused1);
    fftw_complex *data = fftw_alloc_complex((size_t)n_room);
    fftw_complex *other = fftw_alloc_complex((size_t)n_room);
    fftw_plan forward = fftw_mpi_plan_dft_3d(n0, n1, n2, data, other, MPI_COMM_WORLD, FFTW_FORWARD,
                                             flags | FFTW_MPI_TRANSPOSED_OUT);
    fftw_plan backward = fftw_mpi_plan_dft_3d(n0, n1, n2, other, data, MPI_COMM_WORLD,
                                              FFTW_BACKWARD, flags | FFTW_MPI_TRANSPOSED_IN);
    double scale = 1.0 / (double)(n0 * n_rest), largest = 0, all;

    for (i = 0; i < n_local * n_rest; i++) {
        data[i][0] = value(first * n_rest + i);
        data[i][1] = -value(2 * (first * n_rest + i));
    }
    fftw_execute(forward);
    fftw_execute(backward);
    for (i = 0; i < n_local * n_rest; i++) {
        largest = fmax(largest, fabs(data[i][0] * scale - value(first * n_rest + i)));
        largest = fmax(largest, fabs(data[i][1] * scale + value(2 * (first * n_rest + i))));
    }
    fftw_destroy_plan(forward);
    fftw_destroy_plan(backward);
    fftw_free(data);
    fftw_free(other);
    (void)MPI_Allreduce(&largest, &all, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return all;
}

int main(int argc, char **argv)
{
    static const ptrdiff_t sizes[][3] = {{32, 32, 32}, {30, 21, 8}, {64, 17, 12}, {3, 40, 5}};
    int rank, bad = 0;
    size_t i;

    (void)MPI_Init(&argc, &argv);
    (void)MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    fftw_mpi_init();
    for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        double error =
            round_trip(sizes[i][0], sizes[i][1], sizes[i][2], FFTW_ESTIMATE | FFTW_DESTROY_INPUT);

        bad |= !(error < 1e-12);
        if (rank == 0) {
            (void)printf("%td x %td x %td: error below 1e-12: %s\n", sizes[i][0], sizes[i][1],
                         sizes[i][2], error < 1e-12 ? "yes" : "no");
        }
    }
    fftw_mpi_cleanup();
    (void)MPI_Finalize();
    return bad;
}
