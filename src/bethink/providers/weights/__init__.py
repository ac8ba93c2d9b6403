"""Models that run on this machine: manifests, the download catalog and downloads."""
