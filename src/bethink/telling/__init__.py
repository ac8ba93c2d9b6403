"""What changed, told to those who asked: read in order, followed, waited for, and sent to webhooks."""
