"""What the jobs compute: frames in, frames out; no session, no files, no clock."""
