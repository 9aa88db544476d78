//! Free ports on the loopback address. They lie below the range from which the system takes the
//! near end of outgoing connections: else a client that keeps trying a stopped server could be
//! given that very port, and the server could not come back to it.

use std::collections::BTreeSet;
use std::net::{Ipv4Addr, TcpListener};

use anyhow::bail;
use claimcheck_process::random;

/// The lowest port that is tried.
const LOWEST: u64 = 12_000;
/// The lowest outgoing port where the system does not tell.
const OUTGOING_DEFAULT: u64 = 32_768;
/// Fewer ports than this below the outgoing range are not worth trying.
const ROOM_MIN: u64 = 1_000;
/// Ports that are tried before giving up.
const TRIES: usize = 1_000;
/// Where Linux tells its outgoing range.
const OUTGOING_RANGE: &str = "/proc/sys/net/ipv4/ip_local_port_range";

/// Ports that are free now and differ from each other.
pub(crate) fn free(count: usize) -> anyhow::Result<Vec<u16>> {
    let range = std::fs::read_to_string(OUTGOING_RANGE).unwrap_or_default();
    let outgoing = range.split_whitespace().next();
    let outgoing = outgoing.and_then(|low| low.parse().ok());
    let end = outgoing.unwrap_or(OUTGOING_DEFAULT);
    let end = if end >= LOWEST + ROOM_MIN {
        end
    } else {
        u64::from(u16::MAX)
    };
    let mut found = BTreeSet::new();
    for _ in 0..TRIES {
        if found.len() == count {
            return Ok(found.into_iter().collect());
        }
        let port = u16::try_from(LOWEST + random::below(end - LOWEST))?;
        if TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok() {
            found.insert(port);
        }
    }
    bail!("no {count} free ports were found on the loopback address")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_differ_and_can_be_bound() {
        let ports = free(20).expect("a machine has twenty free ports");
        let different: BTreeSet<u16> = ports.iter().copied().collect();
        assert_eq!(different.len(), 20);
        for port in ports {
            assert!(
                TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok(),
                "{port}"
            );
        }
    }
}
