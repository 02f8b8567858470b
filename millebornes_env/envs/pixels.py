"""Conversion of SVG pictures to pixels; needs the extra `pictures`.

The rasteriser is resvg, whose wheel is self-contained; CairoSVG needs a system library.
"""

from __future__ import annotations

import importlib.util
import io
from pathlib import Path

import numpy as np
import numpy.typing as npt

from millebornes_env.errors import MissingExtraError


def png(svg: str, width: int | None = None) -> bytes:
    """Return a picture on white as the bytes of a PNG file.

    Args:
        svg: SVG document with literal colours: the theme "light" or "dark".
        width: width in pixels; None for the document's own.

    Raises:
        MissingExtraError: no rasteriser is installed.
    """
    try:
        import resvg_py  # noqa: PLC0415 - an extra
    except ModuleNotFoundError as error:
        raise MissingExtraError.of('render_mode="rgb_array"', error, "pictures") from None
    return bytes(resvg_py.svg_to_bytes(svg_string=svg, width=width, background="white", font_dirs=_fonts()))


def rgb_array(svg: str, width: int | None = None) -> npt.NDArray[np.uint8]:
    """Return a picture as pixels, uint8[H, W, 3]; see `png`.

    Raises:
        MissingExtraError: no rasteriser is installed.
    """
    data = png(svg, width)
    try:
        from PIL import Image  # noqa: PLC0415 - an extra
    except ModuleNotFoundError as error:
        raise MissingExtraError.of('render_mode="rgb_array"', error, "pictures") from None
    with Image.open(io.BytesIO(data)) as image:
        return np.asarray(image.convert("RGB"), np.uint8).copy()


def _fonts() -> list[str]:
    """Return the folder of Matplotlib's fonts, for machines without fonts, such as containers."""
    spec = importlib.util.find_spec("matplotlib")
    if spec is None or spec.origin is None:
        return []
    folder = Path(spec.origin).parent / "mpl-data" / "fonts" / "ttf"
    return [str(folder)] if folder.is_dir() else []
