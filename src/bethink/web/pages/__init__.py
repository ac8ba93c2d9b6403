"""The pages of the window, each with the forms on it."""

from bethink.web.pages import (
    access,
    documents,
    erasure,
    facts,
    home,
    patterns,
    recall,
    review,
    sessions,
    shown,
    tests,
    threads,
    timeline,
)

ROUTES = (
    *home.ROUTES,
    *recall.ROUTES,
    *timeline.ROUTES,
    *sessions.ROUTES,
    *shown.ROUTES,
    *facts.ROUTES,
    *documents.ROUTES,
    *threads.ROUTES,
    *review.ROUTES,
    *tests.ROUTES,
    *erasure.ROUTES,
    *access.ROUTES,
    *patterns.ROUTES,
)
"""Every page and form, in the order in which their paths are tried."""
