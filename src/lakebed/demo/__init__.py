"""Walk through the main job on real data: `python -m lakebed.demo`. Needs the `demo` extra."""
