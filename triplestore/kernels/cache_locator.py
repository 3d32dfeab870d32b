"""Where numba keeps a compiled kernel; named to numba by `compiled_cache`, which see."""

from __future__ import annotations

from pathlib import Path

from numba.core.caching import UserProvidedCacheLocator

KERNELS = Path(__file__).parent


class CacheLocator(UserProvidedCacheLocator):
    """Names the folder of a kernel by its place in this package, not by the package's place.

    numba names it by a hash of the whole path, so that each copy of the package compiled anew.
    """

    @classmethod
    def get_suitable_cache_subpath(cls, py_file: str) -> str:
        """The folder below the cache folder, for functions of this file."""
        folder = Path(py_file).parent
        if not folder.is_relative_to(KERNELS):
            subpath: str = super().get_suitable_cache_subpath(py_file)
            return subpath
        return "_".join(["kernels", *folder.relative_to(KERNELS).parts])
