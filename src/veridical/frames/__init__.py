"""Any frame or file in, NumPy columns and small tables out; the only place that knows engines."""

__all__: list[str] = []  # users hand frames to functions; other rooms use the doors
