"""Find keys, tokens and passwords in text, and mask them or refuse to store them.

One scanner (`scan`) serves the index and output (`masking`) and records (`refusal`). Its rules are those of gitleaks
(`gitleaks_rules.json`) and a few of our own (`own_rules`). Nothing is verified over the network.
"""
