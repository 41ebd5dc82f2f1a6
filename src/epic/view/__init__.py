"""Pictures and pages of edit paths and of costs."""

from epic.view.cost_map import costs
from epic.view.gallery import exhibits, gallery_page
from epic.view.molecule import Chemistry, molecule_of
from epic.view.names import Names
from epic.view.page import notebook, path_page

__all__ = ["Chemistry", "Names", "costs", "exhibits", "gallery_page", "molecule_of", "notebook", "path_page"]
