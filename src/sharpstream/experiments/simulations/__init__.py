"""The paper's five mechanistic studies, each one module: jobs, work, figure, findings."""
