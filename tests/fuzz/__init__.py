"""An attack on everything that reads: generated graphs and files, judged by independent oracles.

``make test`` runs a short slice of it, ``make fuzz N=100000`` a campaign that goes on where the last one stopped.
"""
