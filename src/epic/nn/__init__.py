"""Networks: feature schemas, GIN and GCN layers, the cost network, the matching network, and backbones."""
