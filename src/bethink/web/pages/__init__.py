"""The pages of the window, each with the forms on it."""

from bethink.web.pages import (
    access,
    documents,
    facts,
    home,
    patterns,
    recall,
    review,
    sessions,
    tests,
    threads,
    timeline,
)

ROUTES = (
    *home.ROUTES,
    *recall.ROUTES,
    *timeline.ROUTES,
    *sessions.ROUTES,
    *facts.ROUTES,
    *documents.ROUTES,
    *threads.ROUTES,
    *review.ROUTES,
    *tests.ROUTES,
    *access.ROUTES,
    *patterns.ROUTES,
)
"""Every page and form, in the order in which their paths are tried."""
