"""What a server holds of a person, for them to have."""
