"""Work of a stranger's size, in processes of their own with limits of time and memory."""
