"""How fast, measured: ratios of things timed in one run, because machines are noisy. Called by `sharp bench`."""
