/*
 * Stands in for a header that ompi/op/op.h includes and that Open MPI 4.1 does
 * not install. Found only where the real one is missing (-idirafter). A Fortran
 * INTEGER is a C int on every platform that this builds on.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef VP_COMPAT_FINT_2_INT_H
#define VP_COMPAT_FINT_2_INT_H

#define OMPI_INT_2_FINT(value) ((MPI_Fint)(value))
#define OMPI_FINT_2_INT(value) ((int)(value))

#endif
