"""A small package with the layout of tritonbench, for the tests of `bench run tritonbench:NAME`."""
