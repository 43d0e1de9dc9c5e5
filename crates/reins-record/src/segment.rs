//! A segment: a name, then batches one after the other. Each has a checksum; together they are one
//! compressed stream that is flushed after each batch, so that a page that changes little costs little.

use crate::error::RecordError;
use crate::event::{Seq, StoredEvent};
use crate::limits::LARGEST_BATCH;
use std::fs::File;
use std::io::{self, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use zstd::stream::raw::CParameter;
use zstd::stream::write::{Decoder, Encoder};

/// What a segment begins with: what it is, and of which form.
pub(crate) const NAME: &[u8; 8] = b"reins-r1";

/// Bytes before each batch.
const HEAD: usize = 32;

/// Speed before size: a session must not feel that it is recorded.
const LEVEL: i32 = 3;

/// What the stream remembers, as a power of two: memory of every session that is recorded.
const WINDOW: u32 = 20;

/// What stands before a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Head {
    pub(crate) first: Seq,
    pub(crate) count: u32,
    pub(crate) last_at_ms: u64,
    packed: u32,
    raw: u32,
    sum: u32,
}

impl Head {
    fn bytes(&self) -> [u8; HEAD] {
        let mut bytes = [0; HEAD];
        bytes[0..4].copy_from_slice(&self.packed.to_le_bytes());
        bytes[4..8].copy_from_slice(&self.sum.to_le_bytes());
        bytes[8..].copy_from_slice(&self.summed());
        bytes
    }

    fn summed(&self) -> [u8; HEAD - 8] {
        let mut bytes = [0; HEAD - 8];
        bytes[0..8].copy_from_slice(&self.first.0.to_le_bytes());
        bytes[8..12].copy_from_slice(&self.count.to_le_bytes());
        bytes[12..16].copy_from_slice(&self.raw.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.last_at_ms.to_le_bytes());
        bytes
    }

    fn read(bytes: &[u8; HEAD]) -> Self {
        let four = |at: usize| {
            let mut four = [0; 4];
            four.copy_from_slice(&bytes[at..at + 4]);
            u32::from_le_bytes(four)
        };
        let eight = |at: usize| u64::from(four(at)) | u64::from(four(at + 4)) << 32;
        Self {
            packed: four(0),
            sum: four(4),
            first: Seq(eight(8)),
            count: four(16),
            raw: four(20),
            last_at_ms: eight(24),
        }
    }

    fn checksum(&self, packed: &[u8]) -> u32 {
        let mut hasher = crc32fast::Hasher::new();
        hasher.update(&self.summed());
        hasher.update(packed);
        hasher.finalize()
    }
}

/// Packs the batches of one segment.
pub(crate) struct Packer {
    stream: Encoder<'static, Vec<u8>>,
}

impl Packer {
    pub(crate) fn new() -> io::Result<Self> {
        let mut stream = Encoder::new(Vec::new(), LEVEL)?;
        stream.set_parameter(CParameter::WindowLog(WINDOW))?;
        Ok(Self { stream })
    }

    /// A batch as it is appended.
    pub(crate) fn pack(
        &mut self,
        first: Seq,
        count: u32,
        last_at_ms: u64,
        lines: &[u8],
    ) -> io::Result<Vec<u8>> {
        self.stream.write_all(lines)?;
        self.stream.flush()?;
        let packed = std::mem::take(self.stream.get_mut());
        let length = |bytes: &[u8]| u32::try_from(bytes.len()).map_err(io::Error::other);
        let (raw, size) = (length(lines)?, length(&packed)?);
        let mut head = Head { first, count, last_at_ms, packed: size, raw, sum: 0 };
        head.sum = head.checksum(&packed);
        let mut batch = head.bytes().to_vec();
        batch.extend_from_slice(&packed);
        Ok(batch)
    }
}

/// The segments of a recording, the oldest first.
pub(crate) fn segments(dir: &Path) -> Result<Vec<(Seq, PathBuf)>, RecordError> {
    let entries = std::fs::read_dir(dir).map_err(RecordError::file("cannot read", dir))?;
    let mut found: Vec<(Seq, PathBuf)> = entries
        .filter_map(|entry| {
            let path = entry.ok()?.path();
            let name = path.file_name()?.to_str()?;
            let first = name.strip_suffix(".seg")?.parse().ok()?;
            Some((Seq(first), path))
        })
        .collect();
    found.sort();
    Ok(found)
}

pub(crate) fn segment_path(dir: &Path, first: Seq) -> PathBuf {
    dir.join(format!("{:012}.seg", first.0))
}

/// Reads a segment batch by batch. A batch that was not written to its end is not there.
pub(crate) struct Batches {
    file: BufReader<File>,
    path: PathBuf,
    left: u64,
    stream: Decoder<'static, Vec<u8>>,
}

impl Batches {
    pub(crate) fn open(path: &Path) -> Result<Self, RecordError> {
        let failed = || RecordError::file("cannot read", path);
        let file = File::open(path).map_err(failed())?;
        let length = file.metadata().map_err(failed())?.len();
        let mut file = BufReader::new(file);
        let mut name = [0; NAME.len()];
        // A segment whose name was not written to its end holds nothing.
        let named = file.read_exact(&mut name).is_ok() && &name == NAME;
        let left = if named { length - NAME.len() as u64 } else { 0 };
        let stream = Decoder::new(Vec::new()).map_err(failed())?;
        Ok(Self { file, path: path.to_owned(), left, stream })
    }

    fn head(&mut self) -> Option<Head> {
        if self.left < HEAD as u64 {
            return None;
        }
        let mut bytes = [0; HEAD];
        self.file.read_exact(&mut bytes).ok()?;
        self.left -= HEAD as u64;
        let head = Head::read(&bytes);
        let fits = u64::from(head.packed) <= self.left && head.raw as usize <= LARGEST_BATCH;
        fits.then_some(head)
    }

    /// What the next batch says of itself, without unpacking it. Only for counting: its checksum is not
    /// looked at, and no batch can be read afterwards.
    pub(crate) fn skip(&mut self) -> Option<Head> {
        let head = self.head()?;
        self.file.seek_relative(i64::from(head.packed)).ok()?;
        self.left -= u64::from(head.packed);
        Some(head)
    }

    /// The next batch. `None` at the end, or where what follows was not written to its end.
    pub(crate) fn next(&mut self) -> Option<Vec<StoredEvent>> {
        let head = self.head()?;
        let mut packed = vec![0; head.packed as usize];
        self.file.read_exact(&mut packed).ok()?;
        self.left -= u64::from(head.packed);
        if head.checksum(&packed) != head.sum {
            tracing::warn!(path = %self.path.display(), "a batch is damaged; what follows is not read");
            self.left = 0;
            return None;
        }
        self.stream.write_all(&packed).ok()?;
        self.stream.flush().ok()?;
        let lines = std::mem::take(self.stream.get_mut());
        if lines.len() != head.raw as usize {
            self.left = 0;
            return None;
        }
        let lines = lines.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        Some(lines.filter_map(|line| serde_json::from_slice(line).ok()).collect())
    }
}

/// The batches of a segment that are whole: how many events, the time of the last one, and where they end.
pub(crate) fn count(path: &Path) -> Result<(u64, u64), RecordError> {
    let mut batches = Batches::open(path)?;
    let (mut events, mut last) = (0, 0);
    while let Some(head) = batches.skip() {
        events += u64::from(head.count);
        last = last.max(head.last_at_ms);
    }
    Ok((events, last))
}
