//! Bytes of certificates: numbers in LEB128, and a reader that names the place of a fault.

/// Appends a number in LEB128.
pub fn put(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Reads from the beginning of some bytes.
pub struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    pub fn new(bytes: &'a [u8]) -> Reader<'a> {
        Reader { bytes, at: 0 }
    }

    /// A message about the place that was read last.
    pub fn wrong(&self, what: &str) -> String {
        format!("byte {}: {what}", self.at)
    }

    pub fn byte(&mut self) -> Result<u8, String> {
        Ok(self.take(1)?[0])
    }

    pub fn take(&mut self, count: usize) -> Result<&'a [u8], String> {
        let end = self.at.checked_add(count).filter(|&end| end <= self.bytes.len());
        let end = end.ok_or_else(|| self.wrong("the file ends too early"))?;
        let taken = &self.bytes[self.at..end];
        self.at = end;
        Ok(taken)
    }

    /// A number in LEB128, in its shortest form.
    pub fn number(&mut self) -> Result<u64, String> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            let part = u64::from(byte & 0x7f);
            if part << shift >> shift != part || (byte == 0 && shift > 0) {
                return Err(self.wrong("a number is too long"));
            }
            number |= part << shift;
            if byte & 0x80 == 0 {
                return Ok(number);
            }
        }
        Err(self.wrong("a number is too long"))
    }

    /// A number of things, at most `most`.
    pub fn count(&mut self, most: usize) -> Result<usize, String> {
        let count = self.number()?;
        let fits = usize::try_from(count).ok().filter(|&count| count <= most);
        fits.ok_or_else(|| self.wrong("there is too much of something"))
    }

    /// The end must be here.
    pub fn end(&self) -> Result<(), String> {
        if self.at == self.bytes.len() { Ok(()) } else { Err(self.wrong("bytes follow the end")) }
    }
}
