"""Other search algorithms for comparison with the package's: ISMCTS, EPIMC and MDS."""
