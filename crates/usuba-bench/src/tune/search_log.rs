//! Search log: finished measurements on disk, one JSON object a line.
//!
//! A line is appended as soon as a measurement is done, and a truncated line is dropped. An
//! interruption therefore loses the running measurement only. A line is about two candidates, whose
//! names hash everything that affects their time. Lines about outdated candidates are never looked
//! up and do no harm.

use std::collections::{BTreeSet, HashMap};
use std::fs::{self, File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::search::{Answer, Id};

#[derive(Serialize, Deserialize)]
struct Line {
    incumbent: Id,
    challenger: Id,
    /// Rounds of the race.
    rounds: u32,
    answer: Answer,
}

/// Results by incumbent, challenger and rounds.
#[derive(Debug)]
pub struct SearchLog {
    path: PathBuf,
    file: File,
    known: HashMap<(Id, Id, u32), Answer>,
}

impl SearchLog {
    /// Opens a log, or creates it and its folder.
    ///
    /// # Errors
    /// The file cannot be read or written; the message names it.
    pub fn open(path: &Path) -> Result<SearchLog, String> {
        SearchLog::read(path).map_err(|error| format!("cannot keep {}: {error}", path.display()))
    }

    fn read(path: &Path) -> std::io::Result<SearchLog> {
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        let mut file =
            OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        let whole = bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
        file.set_len(whole as u64)?;
        file.seek(SeekFrom::End(0))?;
        let lines = bytes[..whole].split(|&byte| byte == b'\n');
        // Lines of other versions are ignored.
        let lines = lines.filter_map(|line| serde_json::from_slice::<Line>(line).ok());
        let known = lines.map(|l| ((l.incumbent, l.challenger, l.rounds), l.answer)).collect();
        Ok(SearchLog { path: path.to_path_buf(), file, known })
    }

    /// The logged result of a race.
    pub fn recall(&self, incumbent: &Id, challenger: &Id, rounds: u32) -> Option<Answer> {
        self.known.get(&(incumbent.clone(), challenger.clone(), rounds)).cloned()
    }

    /// Appends a result.
    ///
    /// # Errors
    /// The file cannot be written; the message names it.
    pub fn remember(
        &mut self,
        incumbent: &Id,
        challenger: &Id,
        rounds: u32,
        answer: &Answer,
    ) -> Result<(), String> {
        let key = (incumbent.clone(), challenger.clone(), rounds);
        let (incumbent, challenger, answer) = (key.0.clone(), key.1.clone(), answer.clone());
        let line = Line { incumbent, challenger, rounds, answer };
        let mut text = serde_json::to_string(&line).expect("numbers and strings have a JSON form");
        text.push('\n');
        // In one write, so that a line is either complete or truncated.
        let written = self.file.write_all(text.as_bytes()).and_then(|()| self.file.flush());
        written.map_err(|error| format!("cannot keep {}: {error}", self.path.display()))?;
        self.known.insert(key, line.answer);
        Ok(())
    }

    /// Every candidate with a measurement against another one.
    pub fn challengers(&self) -> BTreeSet<Id> {
        self.known.keys().map(|(_, challenger, _)| challenger.clone()).collect()
    }

    /// Number of measurements.
    pub fn len(&self) -> usize {
        self.known.len()
    }

    pub fn is_empty(&self) -> bool {
        self.known.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_was_cut_is_dropped_and_the_next_one_is_whole() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("deep").join("state.jsonl");
        let id = |text: &str| text.to_string();
        let answer = Answer::Failed("too slow".into());
        let mut record = SearchLog::open(&path).expect("opened");
        assert!(record.is_empty());
        record.remember(&id("a"), &id("b"), 9, &answer).expect("kept");
        record.remember(&id("a"), &id("c"), 9, &answer).expect("kept");
        let whole = fs::read(&path).expect("read");
        for cut in 0..whole.len() {
            fs::write(&path, &whole[..cut]).expect("written");
            let mut record = SearchLog::open(&path).expect("opened");
            let lines = whole[..cut].iter().filter(|&&byte| byte == b'\n').count();
            assert_eq!(record.len(), lines);
            record.remember(&id("a"), &id("d"), 9, &answer).expect("kept");
            let record = SearchLog::open(&path).expect("opened");
            assert_eq!(record.len(), lines + 1);
            assert_eq!(record.recall(&id("a"), &id("d"), 9), Some(answer.clone()));
            assert_eq!(record.recall(&id("a"), &id("d"), 10), None);
        }
    }

    #[test]
    fn a_file_that_cannot_be_kept_is_named() {
        let folder = tempfile::tempdir().expect("a folder");
        let message = SearchLog::open(folder.path()).expect_err("a folder is no file");
        assert!(message.contains(&folder.path().display().to_string()), "{message}");
    }
}
