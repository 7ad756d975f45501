//! What the ports carry.
