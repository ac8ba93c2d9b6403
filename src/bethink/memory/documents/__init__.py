"""The tree of documents, its versions, and the changes that consolidations propose."""
