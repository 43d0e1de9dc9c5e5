//! Session recordings: what is kept of a session, how it gets to the disk and how it is read again.
