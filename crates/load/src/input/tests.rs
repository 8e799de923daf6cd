//! Files of all kinds, as arguments name them.
