# The manual as a site, by Sphinx with MyST and the theme Furo, all from Debian: tools/site.py stages the
# pages and runs it.
import os

project = "cupel"
author = "the cupel authors"
copyright = author
html_title = "cupel"
root_doc = "index"
extensions = ["myst_parser"]
myst_heading_anchors = 6
templates_path = ["_templates"]
html_theme = "furo"
html_show_sphinx = False
html_copy_source = False
html_use_index = False
html_theme_options = {"top_of_page_button": None, "light_css_variables": {"color-code-background": "#f6f7f9"}}
html_sidebars = {"**": ["sidebar/brand.html", "sidebar/playground.html", "sidebar/search.html", "sidebar/scroll-start.html",
                        "sidebar/navigation.html", "sidebar/scroll-end.html"]}
html_static_path = ["_static"]
html_css_files = ["cupel.css"]
html_js_files = ["cupel.js"]
# Languages of code that Pygments does not know are shown plain; a console's output is no language.
highlight_language = "none"
# Colours of code with enough contrast for WCAG AA.
pygments_style = "xcode"
pygments_dark_style = "github-dark"
suppress_warnings = ["misc.highlighting_failure", "myst.header"]
nitpicky = False
release = os.environ.get("CUPEL_VERSION", "")
