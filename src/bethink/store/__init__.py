"""The only place that knows SQL or a driver; everything is a short function of a transaction."""
