"""Make a static site of tables: their columns, histories, problems and diagram, which needs no network.

from lakebed.static_site import collect_site, write_site

write_site(collect_site(lake), "site")
"""

from lakebed.static_site.site_content import SiteContent, SiteTable, collect_site
from lakebed.static_site.write_site import write_site

__all__ = ["SiteContent", "SiteTable", "collect_site", "write_site"]
