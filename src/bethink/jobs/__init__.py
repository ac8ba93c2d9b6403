"""Background work: workers, leases, and jobs in this process."""
