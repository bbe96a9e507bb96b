//! The checksum that both processes compute of an image's samples.

/// CRC-32 (the one of PNG and zlib) of the samples, high octet first, so that hosts of either byte order
/// agree.
pub(crate) fn checksum(samples: &[u16]) -> u32 {
    // Converted in pieces, so that a large image is not copied whole.
    const PIECE: usize = 4096;
    let mut crc = crc32fast::Hasher::new();
    let mut octets = [0; 2 * PIECE];
    for piece in samples.chunks(PIECE) {
        for (pair, sample) in octets.as_chunks_mut().0.iter_mut().zip(piece) {
            *pair = sample.to_be_bytes();
        }
        crc.update(&octets[..2 * piece.len()]);
    }
    crc.finalize()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_check_value_of_crc_32() {
        // "123456789" has an odd length; "12345678" stands in for it in 16-bit samples.
        let samples: Vec<u16> =
            b"12345678".chunks(2).map(|pair| u16::from_be_bytes([pair[0], pair[1]])).collect();
        assert_eq!(checksum(&samples), 0x9ae0_daaf);
        assert_eq!(checksum(&[]), 0);
    }

    #[test]
    fn pieces_make_no_difference_and_every_sample_counts() {
        let mut samples: Vec<u16> = (0..10_001).map(|i| (i * 7919 % 65_536) as u16).collect();
        let octets: Vec<u8> = samples.iter().flat_map(|sample| sample.to_be_bytes()).collect();
        assert_eq!(checksum(&samples), crc32fast::hash(&octets));
        let before = checksum(&samples);
        samples[10_000] ^= 1;
        assert_ne!(checksum(&samples), before);
    }
}
