//! The servant: enters each request in its book, which outlives the process if it is a file.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use zorb::{Call, Completion, Sequence, SystemException};

use super::account::Outcome;
use super::idl::soak::{Ledger, LedgerServant};
use super::resources::Resources;

/// Where requests are entered.
pub(crate) enum Book {
    /// One write for each: what the kernel has, a kill leaves.
    File(File),
    /// Within the process that reads it.
    Memory(Mutex<Vec<u64>>),
}

impl Book {
    pub(crate) fn file(path: &Path) -> io::Result<Book> {
        Ok(Book::File(File::options().create(true).append(true).open(path)?))
    }

    pub(crate) fn memory() -> Book {
        Book::Memory(Mutex::default())
    }

    fn enter(&self, number: u64) -> Result<(), SystemException> {
        match self {
            Book::File(file) => {
                let mut file: &File = file;
                // Appended whole: what one call writes to a file, no other divides.
                file.write_all(&number.to_le_bytes())
                    .map_err(|error| SystemException::Internal(format!("the book: {error}")))
            }
            Book::Memory(numbers) => {
                numbers.lock().unwrap_or_else(PoisonError::into_inner).push(number);
                Ok(())
            }
        }
    }

    /// What is in it, if it is in this process.
    pub(crate) fn entries(&self) -> Vec<u64> {
        match self {
            Book::File(_) => Vec::new(),
            Book::Memory(numbers) => numbers.lock().unwrap_or_else(PoisonError::into_inner).clone(),
        }
    }
}

/// The numbers in a book's file.
pub(crate) fn read(path: &Path) -> io::Result<Vec<u64>> {
    let octets = std::fs::read(path)?;
    let (numbers, _) = octets.as_chunks::<8>();
    Ok(numbers.iter().map(|number| u64::from_le_bytes(*number)).collect())
}

/// What a caller that may be killed was told, for [`read_told`].
pub(crate) fn write_told(mut to: &File, number: u64, outcome: Outcome) -> io::Result<()> {
    let mut octets = [0; 16];
    octets[..8].copy_from_slice(&number.to_le_bytes());
    octets[8..].copy_from_slice(&(outcome as u64).to_le_bytes());
    to.write_all(&octets)
}

/// What it wrote.
pub(crate) fn read_told(path: &Path) -> io::Result<Vec<(u64, Outcome)>> {
    let words = read(path)?;
    let (pairs, _) = words.as_chunks::<2>();
    Ok(pairs.iter().filter_map(|[number, outcome]| Some((*number, Outcome::of_number(*outcome)?))).collect())
}

impl LedgerServant for Book {
    fn note(&self, _: &Call, number: u64) -> Result<u64, SystemException> {
        self.enter(number)?;
        Ok(number)
    }

    fn bulk(&self, _: &Call, number: u64, data: Sequence<u8>) -> Result<Sequence<u8>, SystemException> {
        self.enter(number)?;
        Ok(data)
    }

    fn tell(&self, _: &Call, number: u64) -> Result<(), SystemException> {
        self.enter(number)
    }

    fn through(&self, _: &Call, number: u64, back: Option<Ledger>) -> Result<(), SystemException> {
        self.enter(number)?;
        let back = back.ok_or_else(|| SystemException::BadParam("nobody to call back"))?;
        // Of the other call; this one has been executed.
        let noted = back.note(number).map(drop);
        noted.map_err(|exception| exception.completed(Completion::Maybe))
    }

    fn resources(&self, _: &Call) -> Result<(u32, u32, u32), SystemException> {
        let held = Resources::now().map_err(|error| SystemException::Internal(error.to_string()))?;
        Ok((held.descriptors, held.threads, held.segments))
    }
}
