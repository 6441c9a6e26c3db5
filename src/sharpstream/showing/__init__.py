"""The page that `sharp report` writes: one HTML file from runs and experiments, which needs no network."""
