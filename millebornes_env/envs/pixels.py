"""A picture in SVG as an array of pixels, where a rasteriser is installed (the extra `pictures`).

The rasteriser is resvg: its wheel holds all that it needs, while CairoSVG needs a library of the system.
"""

from __future__ import annotations

import importlib.util
import io
from pathlib import Path

import numpy as np
import numpy.typing as npt

from millebornes_env.errors import MissingExtraError


def png(svg: str, width: int | None = None) -> bytes:
    """The picture as a PNG file.

    Args:
        svg: a document without colours by name: the theme "light" or "dark".
        width: in pixels; None: as the document says.

    Raises:
        MissingExtraError: no rasteriser is installed.
    """
    try:
        import resvg_py  # noqa: PLC0415 - an extra
    except ModuleNotFoundError as error:
        raise MissingExtraError.of('render_mode="rgb_array"', error, "pictures") from None
    return bytes(resvg_py.svg_to_bytes(svg_string=svg, width=width, font_dirs=_fonts()))


def rgb_array(svg: str, width: int | None = None) -> npt.NDArray[np.uint8]:
    """The picture as pixels.

    Args:
        svg: as for `png`.
        width: as for `png`.

    Returns:
        uint8[H, W, 3].

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
    """Letters for machines that have none, such as containers: those that Matplotlib brings."""
    result = importlib.util.find_spec("matplotlib")
    if result is None or result.origin is None:
        return []
    folder = Path(result.origin).parent / "mpl-data" / "fonts" / "ttf"
    return [str(folder)] if folder.is_dir() else []


__all__ = ["png", "rgb_array"]
