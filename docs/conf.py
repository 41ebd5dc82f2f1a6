"""Settings of the site: `make docs` builds it. Nothing is fetched, neither in building nor when a page is opened."""

import os
import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_ext"))
os.environ.setdefault("MPLBACKEND", "agg")

from epic import __version__  # noqa: E402

project, author, release = "epic-graph", "The epic-graph developers", __version__
project_copyright = "The epic-graph developers, MIT licence"
extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx_gallery.gen_gallery",
    "generated",
    "links",
]
exclude_patterns = ["_build", "images/README.md", "gallery/*.py", "gallery/*.ipynb", "gallery/*.md5"]
templates_path = ["_templates"]

myst_heading_anchors = 3
myst_enable_extensions = ["deflist", "attrs_block", "colon_fence"]

autosummary_generate = True
autosummary_imported_members = True
autodoc_typehints = "description"
autodoc_typehints_description_target = "documented"
autodoc_member_order = "bysource"
napoleon_numpy_docstring = False
napoleon_use_ivar = True
python_maximum_signature_line_length = 100
add_module_names = False

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "ignore_pattern": r"^(?!(compare_methods|counterfactual|distance|drop_in|drug_to_drug|look_at_a_path|"
    r"molecules_csv|nearest_neighbours|offline|your_own_cost|your_own_method)\.py$)",
    "filename_pattern": r"\.py$",
    "within_subsection_order": "ExampleTitleSortKey",
    "image_scrapers": ("figures.scrape",),
    "capture_repr": ("_repr_html_",),
    "reset_modules": (),
    "download_all_examples": False,
    "show_memory": False,
    "show_signature": False,
    "write_computation_times": False,
    "remove_config_comments": True,
    "min_reported_time": 1e9,
}

html_theme = "furo"
html_title = "epic-graph"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sphinx = False
html_theme_options = {"navigation_with_keys": True}
