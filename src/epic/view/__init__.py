"""Pictures and pages of edit paths and of costs. View draws what it is given: it finds no path and learns no cost."""

from epic.view.cost_map import costs
from epic.view.gallery import Exhibit, gallery_page
from epic.view.names import Names
from epic.view.page import notebook, path_page
from epic.view.strip import strip

__all__ = ["Exhibit", "Names", "costs", "gallery_page", "notebook", "path_page", "strip"]
