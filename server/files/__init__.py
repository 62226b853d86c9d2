"""Files: the list that people see of documents and folders, kept up to date at one node."""
