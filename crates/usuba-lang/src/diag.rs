//! Diagnostics: the error, its place, and one thing to try. Data only; `usubac` renders it.

use std::fmt;

/// Index of a file in [`Sources`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default)]
pub struct FileId(pub u32);

/// A half-open byte range `start..end` in one file.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default)]
pub struct Span {
    pub file: FileId,
    pub start: u32,
    pub end: u32,
}

impl Span {
    pub fn new(file: FileId, start: usize, end: usize) -> Span {
        Span { file, start: start as u32, end: end as u32 }
    }

    /// The smallest span that covers both; both lie in one file.
    pub fn to(self, other: Span) -> Span {
        Span { file: self.file, start: self.start.min(other.start), end: self.end.max(other.end) }
    }
}

/// One source file as it was read.
#[derive(Clone, Debug)]
pub struct SourceFile {
    /// The path as the user would write it.
    pub name: String,
    pub text: String,
}

/// All files of a compilation, in the order in which they were read.
#[derive(Clone, Default, Debug)]
pub struct Sources {
    pub files: Vec<SourceFile>,
}

impl Sources {
    pub fn add(&mut self, name: impl Into<String>, text: impl Into<String>) -> FileId {
        self.files.push(SourceFile { name: name.into(), text: text.into() });
        FileId(self.files.len() as u32 - 1)
    }

    pub fn file(&self, id: FileId) -> &SourceFile {
        &self.files[id.0 as usize]
    }

    pub fn text(&self, span: Span) -> &str {
        &self.file(span.file).text[span.start as usize..span.end as usize]
    }

    /// Line and column of a byte offset, both counted from 1; the column counts bytes.
    pub fn line_col(&self, file: FileId, offset: u32) -> (usize, usize) {
        let before = &self.file(file).text.as_bytes()[..offset as usize];
        let line = before.iter().filter(|&&b| b == b'\n').count() + 1;
        let col = before.iter().rev().take_while(|&&b| b != b'\n').count() + 1;
        (line, col)
    }
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Severity {
    Error,
    Warning,
}

/// One finding. `message` describes the error in the user's words, `help` gives one thing to try.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Diagnostic {
    pub severity: Severity,
    pub code: Code,
    pub message: String,
    /// Where; `None` only for findings about a whole compilation (a missing entry, a wrong flag).
    pub span: Option<Span>,
    /// Other places that matter, each with its reason.
    pub related: Vec<(Span, String)>,
    pub help: Option<String>,
    pub fix: Option<Box<Fix>>,
}

/// A change of the text that `help` describes: all its edits together.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fix {
    /// Edits at different places.
    pub edits: Vec<Edit>,
    /// Whether it is the only repair and keeps the meaning of the program, so that a tool may apply
    /// it; otherwise the author chooses.
    pub automatic: bool,
}

/// New text for a place; at an empty place it is inserted.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Edit {
    pub span: Span,
    pub text: String,
}

impl Edit {
    pub fn new(span: Span, text: impl Into<String>) -> Edit {
        Edit { span, text: text.into() }
    }
}

impl Diagnostic {
    pub fn error(code: Code, span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic {
            severity: Severity::Error,
            code,
            message: message.into(),
            span: Some(span),
            related: Vec::new(),
            help: None,
            fix: None,
        }
    }

    pub fn warning(code: Code, span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic { severity: Severity::Warning, ..Diagnostic::error(code, span, message) }
    }

    /// An error that belongs to no place in the text.
    pub fn global(code: Code, message: impl Into<String>) -> Diagnostic {
        Diagnostic {
            severity: Severity::Error,
            code,
            message: message.into(),
            span: None,
            related: Vec::new(),
            help: None,
            fix: None,
        }
    }

    pub fn help(mut self, text: impl Into<String>) -> Diagnostic {
        self.help = Some(text.into());
        self
    }

    pub fn fix(mut self, edits: Vec<Edit>, automatic: bool) -> Diagnostic {
        self.fix = Some(Box::new(Fix { edits, automatic }));
        self
    }

    pub fn related(mut self, span: Span, text: impl Into<String>) -> Diagnostic {
        self.related.push((span, text.into()));
        self
    }

    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}

macro_rules! codes {
    ($($name:ident = $text:literal, $title:literal;)*) => {
        /// Stable diagnostic codes: U01 lexing and parsing, U02 names, U03 types and literals,
        /// U04 definitions, U05 indices and loops, U06 tables, perms and calls, U07 slicing and
        /// targets, U08 limits, U09 files and flags, U10 contracts, U11 lints. A code is never reused.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
        pub enum Code { $($name,)* }

        impl Code {
            pub const ALL: &'static [Code] = &[$(Code::$name,)*];

            /// The stable spelling, such as `U0201`.
            pub fn as_str(self) -> &'static str {
                match self { $(Code::$name => $text,)* }
            }

            /// The title of the code in one line.
            pub fn title(self) -> &'static str {
                match self { $(Code::$name => $title,)* }
            }
        }
    };
}

codes! {
    UnexpectedChar = "U0101", "a character that no token starts with";
    BadInteger = "U0102", "an integer that is malformed or above 2^64-1";
    UnexpectedToken = "U0103", "a token where the grammar wants another one";
    BadTypeWord = "U0104", "a type that is not a type";
    EmptyBody = "U0105", "a node body without an equation";
    UnterminatedString = "U0106", "a string without its closing quote";

    UndefinedVariable = "U0201", "a variable that is not declared";
    UndefinedNode = "U0202", "a call to something that is not declared before it";
    DuplicateName = "U0203", "a name that is declared twice";
    DuplicateNode = "U0204", "a node, table or perm that is declared twice";
    ShadowedName = "U0205", "a loop index that hides another name";
    RecursiveCall = "U0206", "a node that calls itself";
    NoEntry = "U0207", "a program without the entry node";
    BadLink = "U0208", "a link to something that is no kernel of its own";

    LengthMismatch = "U0301", "two sides with different numbers of atoms";
    SizeMismatch = "U0302", "two atoms with different word sizes";
    DirectionMismatch = "U0303", "two atoms with different slicing directions";
    LiteralTooLarge = "U0304", "a literal that does not fit";
    LiteralUntyped = "U0305", "a literal whose type the context does not give";
    LiteralSplit = "U0306", "literals that cannot share the remaining bits equally";
    NatMismatch = "U0307", "a compile-time integer where a word is wanted, or the reverse";
    BadArithmetic = "U0308", "arithmetic on a word size that has none";
    BadShift = "U0309", "a shift that does not exist or has a bad amount";
    BadShuffle = "U0310", "a Shuffle, Bitmask or Pack that does not fit its operand";
    DivisionOnWords = "U0311", "division of words";
    UnsupportedType = "U0312", "a type that is not supported";

    DefinedTwice = "U0401", "an atom that is defined twice";
    UseBeforeDefinition = "U0402", "an atom that is read before it is defined";
    AssignToInput = "U0403", "a definition of an input";
    ResultUndefined = "U0404", "a result that is not fully defined";
    RepeatedTarget = "U0405", "the same atom twice on one left-hand side";
    OverwriteInLoop = "U0406", "a definition in a loop that overwrites an earlier one";
    OldUpdateForm = "U0407", "an update that is written without its colon";

    IndexOutOfRange = "U0501", "an index outside of its dimension";
    NotIndexable = "U0502", "an index on something that has no elements";
    NotConstant = "U0503", "an index or amount that is not a compile-time constant";
    DivisionByZero = "U0504", "a division by zero in an index expression";

    TableSize = "U0601", "a table with the wrong number of entries";
    TableEntry = "U0602", "a table entry that does not fit its outputs";
    PermSize = "U0603", "a perm with the wrong number of entries";
    PermEntry = "U0604", "a perm entry that names no input";
    MixedWordSizes = "U0605", "a table or perm whose words have different sizes";
    MissingInstance = "U0606", "a node array that is called without an index";
    UnwantedInstance = "U0607", "an index on something that is not a node array";
    InstanceRange = "U0608", "a node-array index that is out of range";
    LegacyTable = "U0609", "a table that the original compiler read in another bit order";

    PolymorphicEntry = "U0701", "an entry node with a free word size";
    NatEntry = "U0702", "an entry node with a nat parameter";
    NoSuchOperation = "U0703", "an operation that the slicing does not have";
    NoSuchWordSize = "U0704", "a word size that the slicing or target does not have";
    MixedDirections = "U0705", "a program that mixes slicing directions";

    TooDeep = "U0801", "nesting beyond the limit";
    TooLarge = "U0802", "a program or type beyond the limit";

    IncludeNotFound = "U0901", "an include that cannot be found";
    IncludeCycle = "U0902", "a file that includes itself";
    NotSupported = "U0903", "a feature that is not there yet";

    BadContract = "U1001", "a contract whose terms have no meaning";
    BadRange = "U1002", "a range that the words cannot have";
    ContractFails = "U1003", "a contract that does not hold";
    ArithmeticWraps = "U1004", "arithmetic that wraps, or a word that loses bits";
    ContractUnknown = "U1005", "a contract that is neither proved nor refuted";

    UnusualPrecedence = "U1101", "operators that C would apply in another order";
    UnusedVariable = "U1102", "a variable that is declared but never used";
    UnusedParameter = "U1103", "a parameter that is never used";
    UnusedValue = "U1104", "a value that is computed but never used";
    UncalledNode = "U1105", "a declaration that the entry never uses";
    LongRotation = "U1106", "a rotation by the size of the word or more";
    LongShift = "U1107", "a shift by the size of the word or more";
    ConstantResult = "U1108", "a result that depends on no parameter";
    SameOperands = "U1109", "an operator with twice the same operand";
    NotInverse = "U1110", "a table that is not the inverse that its name promises";
    DownwardLoop = "U1111", "a loop that counts down without a need";
    CostlyAddition = "U1112", "additions that are expensive when bitsliced";
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
