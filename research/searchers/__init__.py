"""Other ways to search, to be compared with the package's: ISMCTS, EPIMC and MDS."""
