"""The ground floor: checked samples, numeric kernels, files, optional imports."""
